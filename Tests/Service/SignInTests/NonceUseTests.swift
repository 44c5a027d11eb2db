import AppleAccounts
import AppleIdentity
import Cryptography
import Encodings
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import SignIn

@Suite struct NonceUseTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
    }

    @Test func `mints nonces that cannot be guessed, with their digest`() async throws {
        let one = subject.useCases.mintNonce()
        let other = subject.useCases.mintNonce()
        #expect(one.nonce != other.nonce)
        #expect(one.nonce.hasPrefix(MintedNonce.prefix))
        #expect(one.nonce.utf8.count == MintedNonce.prefix.utf8.count + 72)
        #expect(one.nonceSHA256 == Hexadecimal.encode(SHA256Digest.hash(one.nonce)))
        #expect(one.expiresAt == Moment(seconds: 1_767_225_600 + 10 + 600))
    }

    @Test(arguments: [true, false])
    func `takes a minted nonce once, hashed or not`(isHashed: Bool) async throws {
        let minted = subject.useCases.mintNonce()
        let claim = JSONValue.string(isHashed ? minted.nonceSHA256 : minted.nonce)
        try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        await #expect(throws: AccountRefusal(.nonceUsed)) {
            try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        }
    }

    @Test func `an app that demands nonces of this service takes no others`() async throws {
        let subject = try Subject(
            app: App(
                team: "A1B2C3D4E5", primaryClientID: "com.example.app", otherClientIDs: ["com.example.web"],
                requiresMintedNonce: true))
        await #expect(throws: NonceNotMinted()) { try await subject.signIn() }
        await #expect(throws: NonceNotMinted()) {
            try await subject.signIn(0, ["nonce": .string("own")], nonce: "own")
        }
        let minted = subject.useCases.mintNonce()
        let claim = JSONValue.string(minted.nonceSHA256)
        // Left out, it would not be used up.
        await #expect(throws: NonceNotMinted()) { try await subject.signIn(0, ["nonce": claim]) }
        try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        await #expect(throws: AccountRefusal(.nonceUsed)) {
            try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        }
        let invented = MintedNonce.prefix + "invented"
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(invented)], nonce: invented)
        }
        // The other apps of the deployment do not demand it.
        try await subject.signIn(0, ["aud": .string("com.example.other")])
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
    func `knows a used nonce in the token, whatever is posted with it`(encoding: ClaimEncoding) async throws {
        let minted = subject.useCases.mintNonce()
        let claim = encoding.claim(for: minted)
        try await subject.signIn(0, ["nonce": .string(claim)], nonce: minted.nonce)
        // It does not help to leave it out, to post it, or to post the claim as if it were the caller's own.
        for posted in [nil, minted.nonce, claim] {
            await #expect(throws: AccountRefusal(.nonceUsed)) {
                try await subject.signIn(0, ["nonce": .string(claim)], nonce: posted)
            }
        }
    }

    @Test func `uses up a minted nonce that the token carries unhashed, though the caller posted none`()
        async throws
    {
        let minted = subject.useCases.mintNonce()
        let claim = JSONValue.string(minted.nonce)
        try await subject.signIn(0, ["nonce": claim])
        await #expect(throws: AccountRefusal(.nonceUsed)) {
            try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        }
    }

    /// The digest does not differ from the digest of a caller's own nonce, which the caller must check.
    @Test func `leaves a digest alone that the token carries while its nonce is unused`() async throws {
        let minted = subject.useCases.mintNonce()
        let claim = JSONValue.string(minted.nonceSHA256)
        try await subject.signIn(0, ["nonce": claim])
        try await subject.signIn(0, ["nonce": claim], nonce: minted.nonce)
        await #expect(throws: AccountRefusal(.nonceUsed)) { try await subject.signIn(0, ["nonce": claim]) }
    }

    @Test func `stores nothing for a nonce that is minted, and one digest when it is used`() async throws {
        let minted = (0..<100).map { _ in subject.useCases.mintNonce() }
        #expect(try await subject.store.purgeNonces(expiredBefore: .last) == 0)
        try await subject.signIn(0, ["nonce": .string(minted[0].nonce)], nonce: minted[0].nonce)
        #expect(try await subject.store.purgeNonces(expiredBefore: .last) == 1)
    }

    /// The sum of the token's expiry, the leeway, and the difference between the clocks of replicas.
    @Test func `keeps the digest for as long as the token may be valid`() async throws {
        let nonce = subject.useCases.mintNonce().nonce
        let expiry = TokenMint.sampleTime + 3600
        try await subject.signIn(0, ["nonce": .string(nonce), "exp": .integer(expiry)], nonce: nonce)
        let end = Moment(seconds: expiry + 60 + 301)
        #expect(try await subject.store.purgeNonces(expiredBefore: end) == 0)
        #expect(try await subject.store.purgeNonces(expiredBefore: end.advanced(byMilliseconds: 1)) == 1)
    }

    @Test func `takes what another replica with the same key has minted, and nothing of another key`()
        async throws
    {
        let end = Moment(seconds: TokenMint.sampleTime + 600)
        let foreign = NonceMint(key: .sample(9)).mint(expiresAt: end).nonce
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(foreign)], nonce: foreign)
        }
        let shared = NonceMint(key: .sample()).mint(expiresAt: end).nonce
        try await subject.signIn(0, ["nonce": .string(shared)], nonce: shared)
    }

    @Test func `refuses a nonce that only looks like a minted one`() async throws {
        let nonce = MintedNonce.prefix + String(repeating: "A", count: 43)
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(nonce)], nonce: nonce)
        }
        #expect(try await subject.store.allEvents().isEmpty)
    }

    @Test func `refuses a minted nonce after its time`() async throws {
        let minted = subject.useCases.mintNonce()
        subject.setClock(610)
        await #expect(throws: AccountRefusal(.nonceExpired)) {
            try await subject.signIn(0, ["nonce": .string(minted.nonce)], nonce: minted.nonce)
        }
    }

    @Test func `does not use up a nonce when the token is refused`() async throws {
        let minted = subject.useCases.mintNonce()
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
