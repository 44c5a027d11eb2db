import Encodings
import Testing

@Suite struct CountedNetworkTests {
    @Test func `an address of IPv4 is one network, and an address of IPv6 is in three`() {
        let version4 = CountedNetwork.all(of: 0xCB00_7107, isVersion4: true)
        #expect(version4.map(\.text) == ["203.0.113.7"] && version4.map(\.share) == [1])
        let version6 = CountedNetwork.all(of: 0x2001_0DB8_0001_02FF, isVersion4: false)
        #expect(version6.map(\.text) == ["2001:db8:1:2ff::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"])
        #expect(version6.map(\.share) == [1, 2, 4] && version6.map(\.isWide) == [false, true, true])
    }

    @Test(
        arguments: [
            (0x2001_0DB8_0001_02FF, [true, true, true]), (0x2001_0DB8_0001_0200, [false, true, true]),
            (0x2001_0DB8_0001_0300, [false, false, true]), (0x2001_0DB8_0002_02FF, [false, false, false]),
        ] as [(UInt64, [Bool])])
    func `a network contains its addresses`(network: UInt64, expected: [Bool]) {
        let networks = CountedNetwork.all(of: 0x2001_0DB8_0001_02FF, isVersion4: false)
        #expect(networks.map { $0.contains(network, isVersion4: false) } == expected)
        #expect(networks.allSatisfy { !$0.contains(network, isVersion4: true) })
    }
}
