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

    enum ClaimEncoding: CaseIterable {
        case raw, hexadecimal, base64URL, base64

        func claim(for minted: MintedNonce) -> String {
            let base64URL = Base64URL.encode(SHA256Digest.hash(minted.nonce))
            return switch self {
            case .raw: minted.nonce
            case .hexadecimal: minted.nonceSHA256
            case .base64URL: base64URL
            case .base64:
                String(base64URL.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + "="
            }
        }
    }

    @Test(arguments: ClaimEncoding.allCases)
    func `uses up a minted nonce that the token carries, though nobody posted it`(
        encoding: ClaimEncoding
    ) async throws {
        let minted = try await subject.useCases.mintNonce()
        let claim = encoding.claim(for: minted)
        try await subject.signIn(0, ["nonce": .string(claim)])
        // Nor does it help to leave it out, to post it, or to post the claim as if it were the caller's own.
        for posted in [nil, minted.nonce, claim] {
            await #expect(throws: AccountRefusal(.nonceUsed)) {
                try await subject.signIn(0, ["nonce": .string(claim)], nonce: posted)
            }
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
