import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import Testing

@testable import SignIn

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

    @Test(arguments: Forgery.allCases)
    func `takes nothing else`(forgery: Forgery) {
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
