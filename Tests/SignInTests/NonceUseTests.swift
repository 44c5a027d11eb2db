import AppleAccounts
import AppleIdentity
import JOSE
import StorageConformance
import Testing

@testable import SignIn

@Suite struct NonceUseTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
    }

    @Test func `mints nonces that nobody can guess, with their digest`() async throws {
        let one = try await subject.useCases.mintNonce()
        let other = try await subject.useCases.mintNonce()
        #expect(one.nonce != other.nonce)
        #expect(one.nonce.hasPrefix(MintedNonce.prefix))
        #expect(one.nonce.utf8.count == MintedNonce.prefix.utf8.count + 43)
        #expect(one.nonceSHA256 == Hexadecimal.encode(SHA256Digest.hash(one.nonce)))
        #expect(one.expiresAt == Moment(seconds: 1_767_225_600 + 10 + 600))
    }

    @Test(arguments: [true, false])
    func `takes a minted nonce once, hashed or not`(isHashed: Bool) async throws {
        let minted = try await subject.useCases.mintNonce()
        let claim = JSONValue.string(isHashed ? minted.nonceSHA256 : minted.nonce)
        try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        await #expect(throws: AccountRefusal(.nonceUsed)) {
            try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        }
    }

    @Test func `refuses a nonce that only looks like a minted one`() async throws {
        let nonce = MintedNonce.prefix + String(repeating: "A", count: 43)
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(nonce)], nonce: nonce)
        }
        #expect(try await subject.store.allEvents().isEmpty)
    }

    @Test func `refuses a minted nonce after its time`() async throws {
        let minted = try await subject.useCases.mintNonce()
        subject.setClock(610)
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(minted.nonce)], nonce: minted.nonce)
        }
    }

    @Test func `does not use up a nonce when the token is refused`() async throws {
        let minted = try await subject.useCases.mintNonce()
        await #expect(throws: AppleTokenError(.nonceMismatch)) {
            try await subject.signIn(0, ["nonce": .string("other")], nonce: minted.nonce)
        }
        try await subject.signIn(0, ["nonce": .string(minted.nonce)], nonce: minted.nonce)
    }

    @Test func `leaves a caller's own nonce to the caller`() async throws {
        try await subject.signIn(0, ["nonce": .string("own")], nonce: "own")
        try await subject.signIn(1, ["nonce": .string("own")], nonce: "own")
    }
}
