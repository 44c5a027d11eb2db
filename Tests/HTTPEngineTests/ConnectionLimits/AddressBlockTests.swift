import NIOCore
import Testing

@testable import HTTPEngine

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "10.0.0.8", false), ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false), ("10.9.9.9/8", "10.0.0.1", true),
        ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fe00::1", false),
        ("2001:db8::/64", "2001:db8::ffff:1", true), ("2001:db8::/65", "2001:db8:0:0:8000::1", false),
        ("::1", "::1", true), ("::1", "::2", false), ("::/0", "2001:db8::1", true),
    ])
    func `holds the addresses of its network`(block: String, address: String, isInside: Bool) throws {
        let block = try #require(AddressBlock(block))
        #expect(block.contains(try SocketAddress(ipAddress: address, port: 80)) == isInside)
    }

    @Test(arguments: [
        ("0.0.0.0/0", true), ("10.0.0.7/0", true), ("::/0", true), ("::ffff:0:0/96", true), ("::/64", true),
        ("::/8", true), ("10.0.0.0/8", false), ("0.0.0.0/8", false), ("fd00::/8", false), ("::1", false),
        ("127.0.0.1", false), ("::ffff:10.0.0.0/104", false), ("2001:db8::/32", false),
        ("0.0.0.0/1 128.0.0.0/1", true), ("0.0.0.0/1 128.0.0.0/2 192.0.0.0/3", true),
        ("0.0.0.0/1 128.0.0.0/2", false), ("::/1 8000::/1", true), ("2000::/3", true),
        ("2000::/4 3000::/4", true), ("2000::/4 3000::/5", false), ("0.0.0.0/1 8000::/1", false),
        ("128.0.0.0/1 0.0.0.0/2 64.0.0.0/3 96.0.0.0/4 112.0.0.0/5 120.0.0.0/6 124.0.0.0/7 126.0.0.0/8", true),
        ("", false), ("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fd00::/8", false),
    ])
    func `says when blocks together have every public address`(text: String, hasAll: Bool) throws {
        let blocks = try text.split(separator: " ").map { try #require(AddressBlock(String($0))) }
        #expect(AddressBlock.holdEveryAddress(blocks) == hasAll)
    }

    @Test(arguments: [
        "", "proxy", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "::/129", "10.0.0.0/8/8",
        "[::1]",
        "10.0.0.0/+8", "10.0.0.0/008", "10.0.0.7:80",
    ])
    func `is nothing else`(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true), ("2001:db8::1", "2001:db8::ffff:2", true),
        ("2001:db8::1", "2001:db8:0:1::1", false), ("::1", "192.0.2.1", false),
    ])
    func `one client is an address of version 4 or a /64 of version 6`(
        first: String, second: String, isSame: Bool
    ) throws {
        let clients = try [first, second].map { ClientAddress(try SocketAddress(ipAddress: $0, port: 1)) }
        #expect((clients[0] == clients[1]) == isSame)
    }
}
