# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The words of forwarding_odd.py: everything that iptables and nft match and do, one template each."""

from __future__ import annotations

WORDS = {
    "no": ("", "", "!= "), "not": ("", "", "! "), "end": ("saddr", "daddr"), "src": ("src", "dst"),
    "port": ("53", "80", "22", "8472"), "one": ("br0", "wan0", "p1"), "l4": ("tcp", "udp"),
    "state": ("new", "established", "invalid", "untracked"),
}  # fmt: skip
# By IP version. What is about the other one is refused by the tools, or never matches.
OF_VERSION = {
    4: {
        "ip": ("ip",), "addr": ("10.1.0.5", "10.2.0.7", "10.2.0.8"), "net": ("10.1.0.0/24", "10.2.0.0/16"),
        "to": ("10.2.0.8", "10.1.0.6"), "own": ("10.2.0.1",), "type": ("ipv4_addr",), "icmp": ("icmp",),
        "range": ("10.1.0.5-10.2.0.7", "10.2.0.7-10.2.0.8"), "spare": ("10.2.3.0/24", "10.1.0.8/30"),
        "gate": ("10.1.0.1", "10.2.0.1"),
    },
    6: {
        "ip": ("ip6",), "addr": ("fd01::5", "fd02::7", "fd02::8"), "net": ("fd01::/64", "fd02::/16"),
        "to": ("fd02::8", "fd01::6"), "own": ("fd02::1",), "type": ("ipv6_addr",), "icmp": ("icmpv6",),
        "range": ("fd01::5-fd02::7", "fd02::7-fd02::8"), "spare": ("fd02::3:0/112", "fd01::8/126"),
        "gate": ("fd01::1", "fd02::1"),
    },
}  # fmt: skip

XT = (
    "-m addrtype <not>--src-type UNICAST", "-m addrtype <not>--dst-type LOCAL", "-m addrtype <not>--src-type LOCAL",
    "-m addrtype <not>--dst-type LOCAL --limit-iface-in", "-m addrtype --dst-type UNSPEC,BLACKHOLE,PROHIBIT",
    "-m addrtype <not>--dst-type UNICAST",
    "-m cluster --cluster-total-nodes 2 --cluster-local-node 1 --cluster-hash-seed 1",
    '-m comment --comment "! -s <addr> -j DROP"',
    "-m connbytes --connbytes 0:100000 --connbytes-dir both --connbytes-mode bytes", "-m connlabel <not>--label 3",
    "-m connlimit --connlimit-upto 100 --connlimit-mask 0", "-m connmark <not>--mark 0x0/0xff",
    "-m connmark <not>--mark 0x1", "-m conntrack <not>--ctstate NEW,INVALID --ctdir ORIGINAL",
    "-m conntrack <not>--ctorigsrc <addr>", "-m conntrack <not>--ctorigdst <net>",
    "-m conntrack <not>--ctreplsrc <addr>", "-m conntrack <not>--ctrepldst <addr>",
    "-m conntrack <not>--ctorigdstport <port>", "-m conntrack --ctorigsrcport 1024:65535",
    "-m conntrack --ctreplsrcport <port>", "-m conntrack <not>--ctstatus NONE",
    "-m conntrack <not>--ctstatus CONFIRMED", "-m conntrack <not>--ctstatus SEEN_REPLY",
    "-m conntrack <not>--ctstatus ASSURED,EXPECTED", "-m conntrack --ctexpire 1:1000", "-m conntrack --ctdir REPLY",
    "-m conntrack <not>--ctproto 17 --ctstate NEW", "-m conntrack <not>--ctstate UNTRACKED",
    "-m conntrack <not>--ctstate SNAT", "-m conntrack <not>--ctstate DNAT,ESTABLISHED", "-m cpu <not>--cpu 0",
    "-m devgroup <not>--src-group 0", "-m devgroup <not>--src-group 7", "-m dscp <not>--dscp 0x08",
    "-m ecn <not>--ecn-ip-ect 1", "-m hashlimit --hashlimit-above 1/hour --hashlimit-name a --hashlimit-mode srcip",
    "-m iprange <not>--src-range <range>", "-m iprange <not>--src-range <range> <not>--dst-range <range>",
    "-m length <not>--length 0:59", "-m limit --limit 10000/s --limit-burst 10000", "-m mark <not>--mark 0x0",
    "-m mark <not>--mark 0x10/0xf0", "-m physdev <not>--physdev-in p1", "-m physdev <not>--physdev-is-in",
    "-m physdev <not>--physdev-is-bridged", "-m pkttype <not>--pkt-type unicast",
    "-m pkttype <not>--pkt-type multicast", "-m policy --dir in --pol none", "-m policy --dir in --pol ipsec",
    "-m policy --dir in --pol ipsec --proto esp", "-m quota --quota 100000", "-m realm <not>--realm 0",
    "-m recent --name r --set", "-m recent <not>--name r --rcheck", "-m rpfilter", "-m rpfilter --invert",
    "-m rpfilter --loose", "-m socket", "-m socket --nowildcard", "-m state <not>--state NEW,RELATED",
    "-m statistic --mode random --probability 0.5", "-m statistic --mode nth --every 1 --packet 0",
    "-m string --algo bm --string podnet", "-m time --timestart 00:00",
    "-m time --weekdays Mon,Tue,Wed,Thu,Fri,Sat,Sun", "-m tos <not>--tos 0x00/0xff", '-m u32 --u32 "0>>28=4"',
    "-m mac <not>--mac-source 02:00:00:00:00:01", "-m owner <not>--uid-owner 0", "-m owner --socket-exists",
    "-m cgroup <not>--cgroup 1", "-m helper --helper ftp", "<not>-s <addr>", "<not>-d <addr>", "<not>-s <net>",
    "<not>-i <one>", "<not>-i br+", "-i +", "-i wan0", "-s <addr> -d <addr>", "<not>-p tcp", "<not>-p udp", "-p all",
    "-p 0", "<not>-p 6",
)  # fmt: skip
XT_OF = {
    4: (
        "-m ttl --ttl-eq 63", "-m ttl --ttl-gt 5", "<not>-f", "-p icmp -m icmp <not>--icmp-type echo-request",
        "<not>-p icmp", "-p icmp -m icmp --icmp-type any", "-p icmp -m icmp <not>--icmp-type 3/1",
        "<not>-s 10.1.0.5/255.0.0.255", "<not>-d 10.2.0.7/0.0.0.255", "-p igmp", "-p 47", "<not>-p esp",
        "<not>-s 0.0.0.0/0.0.0.0",
    ),
    6: (
        "-m hl --hl-eq 63", "-m hl --hl-gt 5", "-p ipv6-icmp -m icmp6 <not>--icmpv6-type 128", "-m frag --fragid 5",
        "-p ipv6-icmp -m icmp6 <not>--icmpv6-type 128/0", "-m rt --rt-type 0", "-m hbh --hbh-len 8", "-m eui64",
        "-m ipv6header --header none --soft", "-m ipv6header --header hop", "-m mh --mh-type 1",
        "<not>-s fd01::5/ffff::ffff",
    ),
}  # fmt: skip
XT_L4 = (
    "-m <p> <not>--dport <port>", "-m <p> <not>--sport 1024:", "-m <p> <not>--dport :79",
    "-m multiport <not>--dports <port>,1:52", "-m multiport <not>--sports 30000:65535",
    "-m multiport <not>--ports <port>", "-m <p> <not>--dport http",
)  # fmt: skip
XT_TCP = (
    "-m tcp <not>--syn", "-m tcp <not>--tcp-flags ALL SYN", "-m tcp <not>--tcp-flags SYN,RST NONE",
    "-m tcp --tcp-option 2", "-m tcpmss --mss 1:1400", "-m tcp <not>--tcp-flags ACK,PSH PSH", "-m ecn --ecn-tcp-cwr",
)  # fmt: skip
# Targets that go on, and what follows decides; by table.
XT_GOES_ON = {
    "filter": (
        '-j LOG --log-prefix "-j DROP "', "-j NFLOG", "-j TRACE", "-j AUDIT --type drop",
        "-j RATEEST --rateest-name a --rateest-interval 250ms --rateest-ewmalog 500ms",
        "-j IDLETIMER --timeout 600 --label a", "-j CONNSECMARK --save", "",
        "-j NFQUEUE --queue-num 3 --queue-bypass", "-j NFQUEUE --queue-num 3",
    ),
    "mangle": (
        "-j MARK --set-mark 0x1", "-j MARK --set-mark 0x10/0xf0", "-j MARK --and-mark 0xf0", "-j MARK --or-mark 0x12",
        "-j MARK --xor-mark 0x11", "-j MARK --set-xmark 0x3/0x1", "-j CONNMARK --set-mark 0x1",
        "-j CONNMARK --save-mark", "-j CONNMARK --restore-mark", "-j CONNMARK --and-mark 0xf",
        "-j CONNMARK --or-mark 0x1", "-j CONNMARK --xor-mark 0x1", "-j CONNMARK --save-mark --mask 0xf",
        "-j CONNMARK --restore-mark --nfmask 0xff --ctmask 0xf", "-j TTL --ttl-set 64", "-j TTL --ttl-dec 1",
        "-j TTL --ttl-inc 1", "-j DSCP --set-dscp 0x08", "-j TOS --set-tos 0x10", "-j CLASSIFY --set-class 1:1",
        "-j CHECKSUM --checksum-fill", "-j HMARK --hmark-tuple src,dst --hmark-mod 2 --hmark-offset 1 --hmark-rnd 1",
        "-j TCPOPTSTRIP --strip-options sack", "-j TCPMSS --clamp-mss-to-pmtu", "-j ECN --ecn-tcp-remove",
        "-j HL --hl-set 64", "-j TPROXY --on-port 80 --tproxy-mark 0x1/0x1",
    ),
    "raw": (
        "-j CT --notrack", "-j NOTRACK", "-j CT --zone 3", "-j CT --helper ftp", "-j CT --ctevents new", "-j TRACE",
        "-j CT --zone-orig 3", "-j CT --zone-reply 3",
    ),
    "nat": (
        "-j DNAT --to-destination <to>", "-j DNAT --to-destination <range>",
        "-j DNAT --to-destination <to> --persistent", "-j REDIRECT", "-j NETMAP --to <net>", "-j RETURN", "-j ACCEPT",
        "-j DNAT --to-destination <to> --random",
    ),
    "natPOST": (
        "-j SNAT --to-source <own>", "-j SNAT --to-source <range>", "-j MASQUERADE", "-j MASQUERADE --random-fully",
        "-j NETMAP --to <net>", "-j RETURN", "-j ACCEPT",
    ),
}  # fmt: skip

NFT = (
    "<ip> <end> <no><addr>", "<ip> <end> <no><net>", "<ip> <end> <no><range>", "<ip> <end> <no>{ <addr>, <net> }",
    "<ip> <end> <no>@s", "<ip> <end> <no>@timed", "<ip> saddr . <l4> dport <no>{ <addr> . <port>, <addr> . 80-90 }",
    "<ip> <end> . meta mark <no>@pairs", "<ip> <end> < <addr>", "<ip> <end> >= <addr>",
    "meta l4proto <no>{ tcp, udp } th dport <no><port>", "th dport <no><port>", "th sport >= 1024", "<l4> dport > 79",
    "<l4> sport != 1-1023", "<l4> dport <no>{ <port>, 100-200 }", "udp length > 8", "tcp window 64240",
    "tcp flags syn", "tcp flags <no>ack", "tcp flags & (syn | ack) == syn",
    "tcp flags & (fin | syn | rst | ack) != syn", "tcp flags { syn, ack | psh }", "tcp flags != { syn, ack | psh }",
    "tcp flags syn,ack", "tcp flags syn / syn,ack", "tcp flags ! syn", "tcp doff 5", "tcp option maxseg exists",
    "tcp option maxseg missing", "tcp option timestamp exists", "meta mark <no>0x0", "meta mark & 0x3 <no>0x0",
    "meta mark & 0x1 == 0x1", "meta mark < 0x10", "meta mark <no>{ 0x0, 0x10-0x1f }", "ct mark <no>0x0",
    "ct mark & 0xf == 0x0", "ct mark { 0x0, 0x1 }", "ct state <no><state>", "ct state { new, established }",
    "ct state != { new, established }", "ct state ! new", "ct state vmap { new : continue, established : return }",
    "ct state new,untracked", "ct status <no>dnat", "ct status snat,dnat", "ct status confirmed", "ct status assured",
    "ct status seen-reply", "ct status != expected", "ct direction <no>original", "ct direction reply",
    "ct original <ip> saddr <no><addr>", "ct original <ip> daddr <no><net>", "ct reply <ip> saddr <no><addr>",
    "ct reply <ip> daddr <addr>", "meta l4proto { tcp, udp } ct original proto-dst <no><port>",
    "meta l4proto tcp ct original proto-src 1024-65535", "meta l4proto { tcp, udp } ct reply proto-src <no><port>",
    "ct protocol <no><l4>", "ct original protocol <l4>", "ct l3proto <no>ipv4", "ct zone <no>0", "ct expiration > 1s",
    'ct helper "ftp"', "ct count 100", "ct count over 100", "ct bytes < 100000", "ct packets >= 0",
    "ct original packets < 3", "ct avgpkt > 5", "ct label 3", "ct id 5", 'meta iifname <no>"<one>"',
    'iifname <no>"b*"', "iif <no><one>", 'iifname { br0, "w*" }', "iifgroup <no>0", "iifgroup 7", "iiftype ether",
    "iiftype <no>loopback", "meta length > 20", "meta protocol <no>ip", "meta nfproto <no>ipv4", "meta nfproto ipv6",
    "meta l4proto <no><l4>", "meta l4proto 6-17", "meta pkttype <no>host", "meta pkttype { unicast, multicast }",
    "meta priority <no>0", "meta skuid <no>0", "meta skgid 0", "meta cgroup <no>1", "meta cpu >= 0",
    "meta rtclassid 0", "meta ipsec missing", "meta ipsec exists", 'meta hour >= "00:00"', 'meta day <no>"Friday"',
    'meta time >= "2020-01-01 00:00:00"', "meta sdif 0", "rt classid 0",
    "limit rate 10000/second burst 10000 packets", "limit rate over 1/hour", "quota 100000 bytes",
    "quota over 1 bytes", 'limit name "l"', 'quota name "q"', 'counter name "c"', "numgen inc mod 1 0",
    "numgen random mod 2 < 1", "numgen random mod 2 0", "jhash <ip> saddr mod 1 0", "symhash mod 2 < 1",
    "jhash <ip> saddr . <ip> daddr mod 4 seed 0x1 { 0-3 }", "fib daddr type <no>local", "fib saddr type <no>local",
    "fib daddr type { unicast, local }", "fib daddr . iif type <no>local", "fib saddr oif <no>0",
    'fib daddr oif <no>"wan0"', "fib saddr . iif oif exists", "fib saddr . iif oif missing",
    'fib daddr oifname <no>"wan0"', "fib saddr . mark oif exists", "fib daddr . mark type unicast",
    'osf name "Linux"', "exthdr frag missing", "exthdr hbh exists", "ip option lsrr missing",
    "<icmp> type <no>echo-request", "<icmp> type { echo-reply, echo-request }", "<icmp> code <no>0",
    "icmp type . icmp code { echo-request . 0 }", "icmp id > 0", "icmp mtu 1400", "@ih,0,32 0x706f646e",
    "@th,16,16 <no>80", "@nh,0,4 <no>4", 'meta iifname . meta l4proto <no>{ "br0" . tcp, "wan0" . udp }',
    "ct state . meta mark { new . 0x0, established . 0x0 }", "meta l4proto vmap { icmp : return }",
    "<ip> saddr vmap { <addr> : continue, <spare> : return }",
)  # fmt: skip
NFT_OF = {
    4: (
        "ip protocol <no><l4>", "ip protocol { tcp, icmp }", "ip ttl 63", "ip ttl >= 1", "ip dscp <no>cs0",
        "ip dscp { cs0, cs1 }", "ip ecn 0", "ip length < 20", "ip frag-off & 0x1fff <no>0",
        "ip frag-off & 0x3fff != 0", "ip frag-off & 0x4000 != 0", "ip id 7", "ip version 4", "ip hdrlength 5",
        "ip daddr & 0.0.0.255 == 0.0.0.7", "ip saddr & 255.255.0.0 <no>10.1.0.0", "ip saddr & 0.0.0.255 <= 0.0.0.5",
        "ip saddr 10.1.0.5/32", "ip saddr . ip daddr { 10.1.0.0/24 . 10.2.0.0-10.2.0.9 }", "ip checksum > 0",
        "ip saddr != 0.0.0.0/0",
    ),
    6: (
        "ip6 nexthdr <no><l4>", "ip6 hoplimit 63", "ip6 hoplimit >= 1", "ip6 dscp <no>cs0", "ip6 flowlabel 0",
        "ip6 length < 5", "ip6 version 6", "ip6 saddr & ffff:: <no>fd01::", "frag id 5", "hbh nexthdr tcp",
        "rt type 0", "mh type 1", "dst nexthdr tcp", "ip6 saddr & ::ffff == ::5", "icmpv6 id > 0",
        "exthdr rt missing",
    ),
}  # fmt: skip
NFT_OUT = (
    'oifname <no>"<one>"', "oif <no><one>", 'oifname "w*"', "oifgroup <no>0", 'iifname . oifname { "br0" . "wan0" }',
    "rt <ip> nexthop <addr>", "rt mtu > 1000", "rt ip nexthop 10.2.0.8",
)  # fmt: skip
NFT_GOES_ON = (
    "counter", 'log prefix "drop "', "log group 3", "meta mark set 0x1", "meta mark set meta mark | 0x10",
    "meta mark set meta mark & 0xf", "meta mark set meta mark ^ 0x1", "meta mark set ct mark",
    "meta mark set numgen random mod 2", "meta mark set numgen inc mod 1 offset 1",
    "meta mark set <ip> saddr map { <addr> : 0x1, <net> : 0x10 }", "meta mark set <ip> saddr map @marks",
    "meta mark set jhash <ip> saddr mod 2", 'meta mark set iifname map { "br0" : 0x1, "wan0" : 0x2 }',
    "meta mark set <l4> dport map { 80 : 0x1, 53 : 0x2 }", "meta mark set ct mark | 0x1",
    "meta mark set meta l4proto map { tcp : 0x1 }", "ct mark set 0x1", "ct mark set meta mark",
    "ct mark set ct mark ^ 0x1", "ct mark set <ip> saddr map { <addr> : 0x1 }", "ct label set 3", "ct event set new",
    'ct helper set "h"', 'ct timeout set "t"', "meta priority set 1:1", "meta nftrace set 1", "meta pkttype set host",
    "ip dscp set cs1", "ip6 dscp set cs1", "ip ttl set 64", "ip6 hoplimit set 64", "ip6 flowlabel set 5",
    "tcp option maxseg size set rt mtu", "tcp option maxseg size set 1400", "reset tcp option sack-perm",
    "add @seen { <ip> saddr }", "update @seen { <ip> saddr limit rate over 1/hour }", "delete @seen { <ip> saddr }",
    "add @seen { <ip> saddr counter }", "notrack", "<ip> saddr set <addr>", "<l4> dport set 22",
    "<ip> daddr set <to>", "flow add @f", "ct zone set 3", 'quota name "q"', 'limit name "l"',
    'counter name <ip> saddr map { <addr> : "c" }', "meta l4proto tcp tproxy to :80",
    "meter m { <ip> saddr limit rate 10000/second }",
)  # fmt: skip
NFT_NAT = {
    "prerouting": (
        "dnat <family>to <to>", "<l4> dport 80 dnat <family>to <to>", "dnat <family>to <range>",
        "dnat <family>to <ip> saddr map { <addr> : <to> }",
        "dnat <family>to numgen inc mod 2 map { 0 : <to>, 1 : <to> }", "redirect", "meta l4proto tcp redirect to :80",
        "dnat <family>to <l4> dport map { 80 : <to> }", "dnat <family>to <to> persistent",
        "dnat <family>to <l4> dport map @todest", "dnat <family>prefix to <ip> daddr map { <net> : <net> }",
        "dnat <family>addr . port to <l4> dport map { 80 : <to> . 22, 53 : <to> . 53 }", "return", "accept",
        "dnat <family>to jhash <ip> saddr mod 2 map { 0 : <to>, 1 : <to> }",
        "dnat <family>to symhash mod 1 map { 0 : <to> }",
    ),
    "postrouting": (
        "snat <family>to <own>", "meta l4proto { tcp, udp } masquerade to :2000-3000", "masquerade",
        "masquerade fully-random", "masquerade random", "snat <family>to <ip> saddr map { <addr> : <own> }", "return",
        "accept",
    ),
}  # fmt: skip
SETS = (
    "set s { type <type>; flags interval; auto-merge; elements = { <net>, <addr> } }",
    'set timed { type <type>; flags timeout; elements = { <addr> timeout 1h, <addr> timeout 1h comment "drop" } }',
    "set pairs { type <type> . mark; flags interval; elements = { <net> . 0x0-0xf } }",
    "set seen { type <type>; flags dynamic; size 100; timeout 1h; }",
    "map marks { typeof <ip> saddr : meta mark; elements = { <addr> : 0x1 } }",
    "map todest { type inet_service : <type>; elements = { 80 : <to>, 53 : <to> } }",
    "map go { type <type> : verdict; flags interval; counter; elements = { <addr> : accept, <spare> : drop } }",
    "counter c { }", "quota q { 100000 bytes }", "limit l { rate 10000/second burst 10000 packets }",
    'ct helper h { type "ftp" protocol tcp; }',
    "ct timeout t { protocol tcp; l3proto ip; policy = { established : 100 };\n }",
    "flowtable f { hook ingress priority 0; devices = { br0, wan0 }; }",
)  # fmt: skip
