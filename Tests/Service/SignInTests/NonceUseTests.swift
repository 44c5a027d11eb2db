import AppAttestation
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

    init() throws { subject = try Subject() }

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
            case .base64: String(base64URL.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + "="
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

    @Test func `uses up a minted nonce that the token carries unhashed, also unposted`() async throws {
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

    @Test func `takes what a replica with the same key has minted, and nothing of another key`()
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

    @Test func `leaves a caller's own nonce to the caller`() async throws {
        try await subject.signIn(0, ["nonce": .string("own")], nonce: "own")
        try await subject.signIn(1, ["nonce": .string("own")], nonce: "own")
    }
}

@Suite struct NonceMintTests {
    let mint = NonceMint(key: .sample())
    let end = Moment(milliseconds: 1_767_225_600_123)

    @Test(arguments: [0, 1, 1_767_225_600_123, Moment.last.milliseconds])
    func `reads the expiry of what it has made`(milliseconds: Int64) {
        let end = Moment(milliseconds: milliseconds)
        let minted = mint.mint(expiresAt: end)
        #expect(minted.expiresAt == end)
        #expect(mint.expiry(of: minted.nonce) == end)
    }

    /// The format must not change: a replica of another version must read it.
    @Test func `has the form that all versions share`() throws {
        let prefix = Array(MintedNonce.prefix.utf8)
        let content: [UInt8] = [0x01, 0x9B, 0x76, 0xDA, 0xA8, 0x7B] + Array(1...16)
        let code = HMACSHA256(key: Array(repeating: 7, count: 32)).code(for: prefix + content)
        let nonce = MintedNonce.prefix + Base64URL.encode(content + code)
        #expect(mint.expiry(of: nonce) == Moment(milliseconds: 0x019B_76DA_A87B))
        #expect(nonce.utf8.count == 83)
    }

    @Test func `takes no nonce of which one bit was changed`() throws {
        let nonce = mint.mint(expiresAt: end).nonce
        let bytes = try #require(Base64URL.decode(String(nonce.dropFirst(MintedNonce.prefix.count))))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(mint.expiry(of: MintedNonce.prefix + Base64URL.encode(changed)) == nil)
            }
        }
    }

    enum Forgery: String, CaseIterable {
        case nothing, prefixOnly, shorter, longer, padded, otherAlphabet, whiteSpace, otherPrefix, earlierForm
        case otherKey, tooLong

        func text(of nonce: String, by other: NonceMint, end: Moment) -> String {
            switch self {
            case .nothing: ""
            case .prefixOnly: MintedNonce.prefix
            case .shorter: String(nonce.dropLast())
            case .longer: nonce + "A"
            case .padded: nonce + "="
            case .otherAlphabet: MintedNonce.prefix + String(repeating: "+", count: 72)
            case .whiteSpace: nonce + "\n"
            case .otherPrefix: "SIWA" + nonce.dropFirst(4)
            case .earlierForm: MintedNonce.prefix + String(repeating: "A", count: 43)
            case .otherKey: other.mint(expiresAt: end).nonce
            case .tooLong: nonce + String(repeating: "A", count: 100_000)
            }
        }
    }

    @Test(arguments: Forgery.allCases) func `takes nothing else`(forgery: Forgery) {
        let nonce = mint.mint(expiresAt: end).nonce
        let text = forgery.text(of: nonce, by: NonceMint(key: .sample(8)), end: end)
        #expect(mint.expiry(of: text) == nil)
    }

    @Test func `does not show its key`() {
        let key = NonceKey.sample(65)
        let mint = NonceMint(key: key)
        for text in ["\(key)", String(reflecting: key), "\(mint)", String(reflecting: mint)] {
            #expect(!text.contains("65") && !text.contains("AAAA"))
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}

@Suite struct ChallengeMintTests {
    let mint = ChallengeMint(key: .sample())
    let app = AppID.sample()

    private func cause(
        _ text: String, _ purpose: AppAttestChallenge.Purpose = .assertion, of app: AppID = .sample(),
        by mint: ChallengeMint? = nil, at moment: Moment = 999
    ) -> AppCheckCause? {
        do throws(ProofFault) {
            _ = try (mint ?? self.mint).challenge(text, purpose, for: app, at: moment)
            return nil
        } catch {
            return error.cause
        }
    }

    @Test func `accepts its challenge until it expires, and keeps it for longer`() throws {
        let made = mint.mint(.assertion, for: app, expiresAt: 1000)
        #expect(made.text.hasPrefix(AppAttestChallenge.prefix))
        #expect(cause(made.text) == nil)
        #expect(cause(made.text, at: 1000) == .challengeExpired)
        let used = try mint.challenge(made.text, .assertion, for: app, at: 0)
        #expect(used.keptUntil == 302_000)
    }

    @Test func `refuses every other use of a challenge`() {
        let text = mint.mint(.assertion, for: app, expiresAt: 1000).text
        #expect(cause(text, .attestation) == .challengeInvalid)
        #expect(cause(text, of: .sample("com.other")) == .challengeInvalid)
        #expect(cause(text, by: ChallengeMint(key: .sample(8))) == .challengeInvalid)
        #expect(NonceMint(key: .sample()).expiry(of: text) == nil)
        let nonce = NonceMint(key: .sample()).mint(expiresAt: 1000).nonce
        #expect(cause(nonce) == .challengeInvalid)
    }

    @Test func `refuses a challenge with any other byte`() {
        let text = Array(mint.mint(.assertion, for: app, expiresAt: 1000).text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(cause(String(decoding: changed, as: UTF8.self)) == .challengeInvalid)
        }
    }

    @Test func `stores the challenges of a bounded number of failed proofs in each window`() {
        let failed = FailedChallenges(most: 3)
        let start = Moment(milliseconds: 1_000_000)
        for number in 0..<3 { #expect(failed.admit(.challenge(number), at: start) != nil) }
        #expect(failed.admit(.challenge(4), at: start) == nil)
        let end = start.advanced(byMilliseconds: FailedChallenges.window)
        #expect(failed.admit(.challenge(5), at: end.advanced(byMilliseconds: -1)) == nil)
        #expect(failed.admit(.challenge(6), at: end) != nil)
    }
}
