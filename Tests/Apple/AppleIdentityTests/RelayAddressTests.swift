import Testing

@testable import AppleIdentity

@Suite struct RelayAddressTests {
    @Test(arguments: ["a@privaterelay.appleid.com", "a@example.com", nil], [true, false])
    func `the claim decides when it is present`(address: String?, claim: Bool) {
        #expect(RelayAddress.isPrivate(claim, address: address) == claim)
    }

    @Test(arguments: [
        "a@privaterelay.appleid.com", "a@private.icloud.com", "A@PrivateRelay.AppleID.com",
        "@private.icloud.com",
        "a@b@privaterelay.appleid.com",
    ])
    func `the domain decides when the claim is absent`(address: String) {
        #expect(RelayAddress.isPrivate(nil, address: address) == true)
    }

    @Test(arguments: [
        nil, "", "@", "a@example.com", "a@icloud.com", "privaterelay.appleid.com",
        "a@xprivaterelay.appleid.com",
        "a@mail.privaterelay.appleid.com", "a@privaterelay.appleid.com.attacker.example",
        "a@privaterelay.appleid.com@attacker.example", "a@privaterelay.appleid.com.",
        "a@privaterelay.appleid.com ",
        "a@private.icloud.co", "a@private\u{212A}icloud.com", "a@prıvaterelay.appleid.com",
    ])
    func `any other address decides nothing`(address: String?) {
        #expect(RelayAddress.isPrivate(nil, address: address) == nil)
    }
}
