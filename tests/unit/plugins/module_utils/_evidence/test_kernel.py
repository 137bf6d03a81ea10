# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import kernel
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing

MODPROBE = "modprobe -n -a " + " ".join(kernel.MODULES)
LOG = "journalctl -q --no-pager -b -o short -p notice -n 2000 _TRANSPORT=kernel + _TRANSPORT=audit"


@pytest.fixture
def source(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


@pytest.fixture
def empty(source: Recorded, tmp_path: Path) -> Recorded:
    """The same commands over a folder that has nothing but the kernel's release."""
    source.root = str(tmp_path / "empty")
    source.write("/proc/sys/kernel/osrelease", "6.1.0\n")
    return source


def test_switches_of_links_but_not_of_pods(source: Recorded) -> None:
    source.write("/proc/sys/net/ipv4/conf/veth28deb1f6/rp_filter", "1\n")
    source.write("/proc/sys/net/ipv4/conf/lo/rp_filter", "1\n")
    source.write("/proc/sys/net/ipv4/conf/eth0.5/rp_filter", "2\n")
    found = kernel.sysctl(source)
    assert found["net.ipv4.ip_forward"] == "1" and found["net.ipv4.conf.eth0/5.rp_filter"] == "2"
    assert {name.split(".")[3] for name in found if ".conf." in name} == {
        "all", "cni0", "default", "eth0", "eth0/5", "flannel/1",
    }  # fmt: skip
    assert list(found) == sorted(found) and "net.ipv6.conf.eth0.accept_ra" in found


def test_a_kernel_that_tells_no_switch_is_missing(empty: Recorded) -> None:
    with pytest.raises(Missing, match="/proc/sys cannot be read"):
        kernel.sysctl(empty)


@pytest.mark.parametrize(
    ("files", "value"),
    [
        ({}, "1"),  # the recorded 90-kubernetes.conf
        ({"/etc/sysctl.d/91-x.conf": "net.ipv4.ip_forward = 0"}, "0"),
        ({"/etc/sysctl.d/91-x.conf": "net/ipv4/ip_forward=0 "}, "0"),
        ({"/etc/sysctl.d/91-x.conf": "-net.ipv4.ip_forward = 0"}, "0"),
        ({"/etc/sysctl.d/91-x.conf": "# net.ipv4.ip_forward = 0\n;net.ipv4.ip_forward = 0"}, "1"),
        ({"/etc/sysctl.d/10-x.conf": "net.ipv4.ip_forward = 0"}, "1"),  # read earlier
        ({"/usr/lib/sysctl.d/90-kubernetes.conf": "net.ipv4.ip_forward = 0"}, "1"),  # hidden
        ({"/etc/sysctl.d/90-kubernetes.conf": "", "/run/sysctl.d/95-x.conf": "net.ipv4.ip_forward=0"}, "0"),
        ({"/etc/sysctl.d/99-x.conf": "net.ipv4.ip_*=0"}, "1"),  # a pattern sets what no plain line sets
        ({"/etc/sysctl.d/90-kubernetes.conf": "", "/etc/sysctl.d/99-x.conf": "net.ipv4.ip_*=0"}, "0"),
        ({"/etc/sysctl.d/90-kubernetes.conf": "-net.ipv4.ip_forward", "/etc/sysctl.d/99-x.conf": "net.ipv4.*=0"}, None),
        ({"/etc/sysctl.d/90-kubernetes.conf": "net.ipv4.ip_forward"}, None),
        ({"/etc/sysctl.conf": "net.ipv4.ip_forward=0"}, "1"),  # systemd does not read it
    ],
)
def test_what_is_set_at_boot(source: Recorded, files: dict[str, str], value: str | None) -> None:
    for path, text in files.items():
        source.write(path, text)
    assert kernel.sysctl_persistent(source).get("net.ipv4.ip_forward") == value


def test_without_systemd_sysctl_conf_is_read_last(source: Recorded) -> None:
    source.remove("/run/systemd/system")
    source.write("/etc/sysctl.conf", "net.ipv4.ip_forward=0\n")
    assert kernel.sysctl_persistent(source)["net.ipv4.ip_forward"] == "0"


def test_of_what_is_set_at_boot_only_what_matters_is_told(source: Recorded) -> None:
    source.write(
        "/etc/sysctl.d/99-x.conf",
        "kernel.sysrq=1\nnet.ipv4.conf.*.rp_filter = 2\nnet/ipv4/conf/eth0.7/rp_filter = 1\nnet.ipv4.conf.x.tag = 1\n",
    )
    found = kernel.sysctl_persistent(source)
    assert "kernel.sysrq" not in found and "net.ipv4.conf.x.tag" not in found
    assert found["net.ipv4.conf.flannel/1.rp_filter"] == found["net.ipv4.conf.eth0.rp_filter"] == "2"
    assert found["net.ipv4.conf.eth0/7.rp_filter"] == "1", "of a link that is not there yet"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"/proc/modules": "vxlan 16384 0 - Live 0x0\nsecret_driver 1 0\n\n"}, ["vxlan"]),
        ({"/proc/modules": "", "/lib/modules/6.1.0/modules.builtin": "kernel/net/bridge/br-netfilter.ko\n"},
         ["br_netfilter"]),
        ({"/proc/modules": "", "/lib/modules/6.2.0/modules.builtin": "kernel/drivers/net/vxlan.ko\n"}, []),
        ({"/boot/config-6.1.0": "CONFIG_VXLAN=y\nCONFIG_DUMMY=m\n"}, ["vxlan"]),
        ({"/proc/config.gz": "CONFIG_VETH=y\n", "/boot/config-6.1.0": "CONFIG_VXLAN=y\n"}, ["veth"]),
        ({"/proc/modules": "", "/proc/net/ip_tables_names": ""}, ["ip_tables", "x_tables"]),
    ],
)  # fmt: skip
def test_modules_that_matter_and_are_there(empty: Recorded, files: dict[str, str], found: list[str]) -> None:
    for path, text in files.items():
        empty.write(path, text)
    assert kernel.modules(empty) == found


def test_a_kernel_that_says_nothing_of_its_modules_is_missing(empty: Recorded) -> None:
    with pytest.raises(Missing, match="neither its modules"):
        kernel.modules(empty)


def test_a_configuration_that_is_cut_off_is_none(empty: Recorded) -> None:
    empty.write("/proc/config.gz", "")
    Path(empty.path("/proc/config.gz")).write_bytes(gzip.compress(b"CONFIG_VXLAN=y\n")[:-9])
    with pytest.raises(Missing, match="neither its modules"):
        kernel.modules(empty)


def test_modules_that_are_asked_for_at_boot(empty: Recorded) -> None:
    empty.write("/etc/modules-load.d/k8s.conf", "# x\n; y\noverlay\nbr-netfilter \n\n")
    empty.write("/usr/lib/modules-load.d/k8s.conf", "vxlan\n")
    empty.write("/etc/modules-load.d/x.txt", "dummy\n")
    empty.write("/etc/modules", "ip_vs extra=1\n")
    assert kernel.modules_persistent(empty) == ["br_netfilter", "ip_vs", "overlay"]


@pytest.mark.parametrize(
    ("stderr", "conf", "lost"),
    [
        ("", "", set()),
        # kmod 30, and busybox 1.36
        ("modprobe: FATAL: Module ip_vs not found in directory /lib/modules/6.1.0\n", "", {"ip_vs"}),
        ("modprobe: module ip-vs not found in modules.dep\n", "", {"ip_vs"}),
        ("modprobe: WARNING: Module xt_set is already there\n", "", set()),
        ("", "install vxlan /bin/false\n install dummy /usr/bin/true # no\n", {"vxlan", "dummy"}),
        ("", "#install vxlan /bin/false\nblacklist veth\ninstall veth /sbin/modprobe -i veth\n", set()),
    ],
)
def test_modules_that_could_be_loaded(empty: Recorded, stderr: str, conf: str, lost: set[str]) -> None:
    empty.write("/proc/modules", "")
    empty.write("/etc/modprobe.d/x.conf", conf)
    empty.say(MODPROBE, "", 1, stderr)
    assert set(kernel.MODULES) - set(kernel.modules_available(empty)) == lost


@pytest.mark.parametrize("files", [{}, {"/proc/modules": "", "/proc/sys/kernel/modules_disabled": "1\n"}])
def test_a_kernel_that_loads_nothing_has_what_is_built_in(empty: Recorded, files: dict[str, str]) -> None:
    empty.write("/lib/modules/6.1.0/modules.builtin", "kernel/net/ipv4/ipip.ko\nkernel/x/other.ko\n")
    for path, text in files.items():
        empty.write(path, text)
    assert kernel.modules_available(empty) == ["ipip"]


def test_the_switch_of_br_netfilter(source: Recorded) -> None:
    assert kernel.proc_net_bridge(source) is True
    source.remove("/proc/sys/net/bridge/bridge-nf-call-iptables")
    assert kernel.proc_net_bridge(source) is False


def test_the_limits_of_inotify_are_numbers(source: Recorded) -> None:
    source.write("/proc/sys/fs/inotify/max_user_instances", "128\n")
    assert kernel.inotify(source)["max_user_instances"] == 128
    source.remove("/proc/sys/fs/inotify/max_user_watches")
    with pytest.raises(Missing, match="max_user_watches"):
        kernel.inotify(source)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["/sys/fs/cgroup/cgroup.controllers"], {"version": 2, "hybrid": False}),
        (["/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/unified/cgroup.controllers"], {"version": 1, "hybrid": True}),
        (["/sys/fs/cgroup/memory/tasks"], {"version": 1, "hybrid": False}),
    ],
)
def test_control_groups(empty: Recorded, files: list[str], found: dict[str, object]) -> None:
    with pytest.raises(Missing, match="is empty"):
        kernel.cgroup(empty)
    for path in files:
        empty.write(path, "")
    assert kernel.cgroup(empty) == found


@pytest.mark.parametrize(
    ("said", "found"), [("1", "enforcing"), ("0\n", "permissive"), ("", "disabled"), (None, "disabled")]
)
def test_selinux(empty: Recorded, said: str | None, found: str) -> None:
    if said is not None:
        empty.write("/sys/fs/selinux/enforce", said)
    assert kernel.selinux(empty) == found


AVC = 'type=AVC msg=audit(1): avc:  denied  { write } for  comm="cp"'
ARMOR = 'Nov 30 15:47:12 n2 kernel: audit: type=1400 audit(1.1:9): apparmor="DENIED" operation="signal" comm="runc"'


def test_denials_are_taken_from_the_audit_log_and_the_kernels(source: Recorded) -> None:
    source.write("/sys/module/apparmor/x", "")
    source.write("/sys/fs/selinux/enforce", "1")
    source.write("/var/log/audit/audit.log", f"{AVC}\nother\n")
    other = AVC.replace("cp", "mv")
    source.say(LOG, f"{ARMOR}\n{other}\nother\n")
    assert kernel.selinux_denials(source) == [AVC, other]
    assert kernel.apparmor_denials(source) == [ARMOR]


def test_of_a_long_audit_log_the_end_is_read_and_the_last_hundred_kept(source: Recorded) -> None:
    source.write("/sys/fs/selinux/enforce", "1")
    source.write("/var/log/audit/audit.log", f"first avc:  denied\n{'x' * 600_000}\n" + f"{AVC}\n" * 150)
    source.say(LOG, "")
    assert kernel.selinux_denials(source) == [AVC] * 100


def test_a_host_without_security_modules_denies_nothing_and_is_not_asked(source: Recorded) -> None:
    source.commands.clear()
    assert kernel.selinux_denials(source) == kernel.apparmor_denials(source) == []


def test_a_log_that_cannot_be_read_is_missing(source: Recorded) -> None:
    source.write("/sys/kernel/security/apparmor/x", "")
    source.commands.pop(LOG, None)
    with pytest.raises(Missing, match="journalctl is not installed"):
        kernel.apparmor_denials(source)
