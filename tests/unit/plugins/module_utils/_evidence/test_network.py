# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import network
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing

LISTS = {
    "ip_address": "ip -j -d address show",
    "ip_route": "ip -j route show table all",
    "ip6_route": "ip -6 -j route show table all",
    "ip_rule": "ip -j rule show",
    "ip_neigh": "ip -j neigh show",
    "bridge_fdb": "bridge -j fdb show",
}


@pytest.mark.parametrize("key", LISTS)
def test_lists_are_what_the_tool_says_without_what_it_could_not_name(tmp_path: Path, key: str) -> None:
    source = Recorded(tmp_path)
    recorded = json.loads(source.commands[LISTS[key]]["stdout"])
    assert recorded and network.KEYS[key](source) == [one for one in recorded if one]
    source = Recorded(tmp_path, build=False)
    source.say(LISTS[key], json.dumps([{}, {"dev": "eth0"}, {}]))
    assert network.KEYS[key](source) == [{"dev": "eth0"}]


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"stdout": "{}"}, "did not answer a list"),
        ({"stdout": "Usage: ip"}, "did not answer JSON"),
        ({"stdout": "", "rc": 255, "stderr": 'Object "rule" is unknown\n'}, "failed with 255: Object"),
    ],
)
def test_what_is_no_list_is_missing(tmp_path: Path, key: str, answer: dict[str, Any], reason: str) -> None:
    source = Recorded(tmp_path)
    source.say(LISTS[key], **answer)
    with pytest.raises(Missing, match=f"'{LISTS[key]}' {reason}"):
        network.KEYS[key](source)


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    del source.commands["ip -j rule show"]
    with pytest.raises(Missing, match="ip is not installed"):
        network.ip_rule(source)


def test_a_host_with_ipv6_off_has_no_routes_of_it(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.remove("/proc/net/if_inet6")
    del source.commands[LISTS["ip6_route"]]
    assert network.ip6_route(source) == []


def test_offloads_are_asked_of_flannels_links_and_of_those_that_lead_out(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    found = network.link_offload(source)
    assert set(found) == {"eth0", "flannel.1"}
    assert found["flannel.1"]["tx-checksum-ip-generic"] is True
    assert all(name.startswith(("tx-checksum-ip-generic", "tx-udp_tnl")) for one in found.values() for name in one)
    source = Recorded(tmp_path, build=False)
    source.say("ethtool -k eth0", "\ttx-checksum-ip-generic: off [fixed]\n\ttx-udp_tnl-segmentation: on\n\ttx-x: on\n")
    assert network.link_offload(source)["eth0"] == {"tx-checksum-ip-generic": False, "tx-udp_tnl-segmentation": True}


def test_sockets_stand_one_on_a_line_with_single_spaces(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.say("ss -H -lntu", "udp   UNCONN 0  0   0.0.0.0:8472   0.0.0.0:*  \n\ntcp LISTEN 0 4096 *:10250 *:*\n")
    assert network.listening(source) == ["udp UNCONN 0 0 0.0.0.0:8472 0.0.0.0:*", "tcp LISTEN 0 4096 *:10250 *:*"]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("resolvConf: /run/systemd/resolve/resolv.conf\n", "nameserver 192.0.2.1\n"),
        ('a: b\nresolvConf: "/run/systemd/resolve/resolv.conf"\n', "nameserver 192.0.2.1\n"),
        ("  resolvConf: /run/systemd/resolve/resolv.conf\n", "nameserver 127.0.0.53\n"),  # of something else
        ('resolvConf: ""\n', "nameserver 127.0.0.53\n"),
        ("", "nameserver 127.0.0.53\n"),
        ("resolvConf: /no/such/file\n", ""),
    ],
)
def test_names_are_resolved_by_the_file_that_kubelet_gives_to_pods(tmp_path: Path, config: str, text: str) -> None:
    source = Recorded(tmp_path)
    source.write("/etc/resolv.conf", "nameserver 127.0.0.53\n")
    source.write("/run/systemd/resolve/resolv.conf", "nameserver 192.0.2.1\n")
    source.write("/var/lib/kubelet/config.yaml", config)
    assert network.resolv_conf(source) == text


def test_hosts_may_have_no_file(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    assert "127.0.0.1" in network.etc_hosts(source)
    source.remove("/etc/hosts")
    assert network.etc_hosts(source) == ""


def test_settings_of_network_manager_and_never_its_connections(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.write("/etc/NetworkManager/NetworkManager.conf", "[main]\nplugins=keyfile\n")
    source.write("/etc/NetworkManager/conf.d/10-x.conf", "[802-1x]\npassword=geheim\n")
    source.write("/usr/lib/NetworkManager/conf.d/10-x.conf", "hidden\n")
    source.write("/run/NetworkManager/conf.d/20-y.conf", "[device]\n")
    source.write("/etc/NetworkManager/conf.d/readme.txt", "x\n")
    source.write("/etc/NetworkManager/system-connections/wifi.nmconnection", "psk=geheim\n")
    assert network.network_manager_conf(source) == {
        "NetworkManager.conf": "[main]\nplugins=keyfile\n",
        "10-x.conf": "[802-1x]\npassword=(removed)\n",
        "20-y.conf": "[device]\n",
    }


def test_settings_of_networkd_without_what_the_distribution_ships(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.write("/etc/systemd/network/10-flannel.network", "[Link]\nUnmanaged=yes\n")
    source.write("/run/systemd/network/wg0.netdev", "[WireGuard]\nPrivateKey=geheim\n")
    source.write("/etc/systemd/networkd.conf", "[Network]\n")
    source.write("/etc/systemd/networkd.conf.d/a.conf", "ManageForeignRoutes=no\n")
    source.write("/usr/lib/systemd/network/80-example.network", "[Match]\n")
    source.write("/etc/systemd/network/99.link", "[Link]\n")
    assert network.networkd_conf(source) == {
        "10-flannel.network": "[Link]\nUnmanaged=yes\n",
        "wg0.netdev": "[WireGuard]\nPrivateKey=(removed)\n",
        "networkd.conf": "[Network]\n",
        "a.conf": "ManageForeignRoutes=no\n",
    }


def test_link_files_of_all_folders_in_byte_order(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.write("/etc/systemd/network/99-default.link", "[Link]\nMACAddressPolicy=none\n")
    source.write("/run/systemd/network/10-b.link", "[Match]\n")
    source.write("/etc/systemd/network/x.network", "[Match]\n")
    found = network.link_files(source)
    assert list(found) == sorted(found) and "10-b.link" in found and "x.network" not in found
    assert found["99-default.link"] == "[Link]\nMACAddressPolicy=none\n", "the administrator's hides the one below /usr"
    assert "73-usb-net-by-mac.link" in found
