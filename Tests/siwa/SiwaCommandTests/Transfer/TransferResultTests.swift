import AppleAccounts
import AppleIDClient
import StrictJSON
import Testing

@testable import siwa

@Suite struct TransferResultTests {
    private func result(email: String, claim: Bool?) throws -> TransferResult {
        let id = try #require(AccountID("acc_01a1fca9-f8eb-75d6-b13c-5e1eee143be1"))
        let user = MigratedUser(subject: "new", email: email, isPrivateEmail: claim)
        return try #require(TransferResult(accountID: id, user: user))
    }

    @Test(
        arguments: [
            ("a@example.com", nil, nil), ("a@example.com", false, false), ("a@example.com", true, true),
            ("a@privaterelay.appleid.com", nil, true), ("a@privaterelay.appleid.com", false, false),
        ] as [(String, Bool?, Bool?)])
    func `is_private_email comes from Apple's claim or domain`(
        email: String, claim: Bool?, expected: Bool?
    ) throws {
        let result = try result(email: email, claim: claim)
        #expect(result.email?.isPrivate == expected)
        #expect(result.json["is_private_email"]?.bool == expected)
        #expect(TransferResult(result.json) == result)
    }
}
