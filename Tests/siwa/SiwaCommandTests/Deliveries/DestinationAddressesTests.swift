import EventDelivery
import HTTPEngine
import Testing

@testable import siwa

@Suite struct DestinationAddressesTests {
    private let rule = DestinationAddresses(allowed: [])

    @Test func `every network of the list is a network`() {
        #expect(DestinationAddresses.special.count == 23)
    }

    @Test(arguments: [
        "93.184.215.14", "8.8.8.8", "172.32.0.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        "2a00:1450:4001:82b::200e",
        "::ffff:93.184.215.14", "2001:4860:4860::8888",
    ])
    func `a public address is allowed`(address: String) {
        #expect(rule.allow(address))
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1",
        "fd00::1", "ff02::1", "2002:7f00:1::", "64:ff9b::7f00:1", "2001:db8::1",
        // Addresses of IPv4 in forms of IPv6.
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:808:808",
        "64:ff9b:1::7f00:1",
        // Networks with a purpose of their own: discard-only, dummy, AS112, AMT, segment routing, documentation.
        "100::1", "100:0:0:1::1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "192.0.0.170",
        "2620:4f:8000::1", "2001::1", "2001:2::1", "2001:20::1", "5f00::1", "3fff::1", "fec0::1",
        // Not assigned to anybody.
        "1fff::1", "4000::1", "8000::1", "e000::1",
        // No addresses.
        "", "localhost", "127.1", "0x7f000001", "2130706433", "fe80::1%eth0",
    ])
    func `an address that is not public is refused`(address: String) {
        #expect(!rule.allow(address))
    }

    @Test func `an allowed network is allowed, and no other private one`() {
        let rule = DestinationAddresses(
            allowed: ["10.0.5.0/24", "fd00:5::/32"].compactMap { AddressBlock($0) })
        #expect(rule.allow("10.0.5.7"))
        #expect(rule.allow("fd00:5::1"))
        #expect(!rule.allow("10.0.6.7"))
        #expect(!rule.allow("127.0.0.1"))
    }
}
