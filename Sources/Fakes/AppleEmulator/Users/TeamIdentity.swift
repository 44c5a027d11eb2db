import Cryptography
import Encodings

/// The identity of a user for one developer team: each team gets a different `sub` and relay address.
public struct TeamIdentity: Sendable, Equatable, Codable {
    public let teamID: String
    /// `sub` in the format `NNNNNN.<32 hex>.NNNN`.
    public let subject: String
    /// An address at `privaterelay.appleid.com` that forwards to the user's real address.
    public let relayAddress: String

    public init(teamID: String, subject: String, relayAddress: String) {
        (self.teamID, self.subject, self.relayAddress) = (teamID, subject, relayAddress)
    }

    /// Derives an identity in Apple's format from `seed`: the same seed gives the same identity.
    init(teamID: String, seed: [UInt8]) {
        let digest = SHA256Digest.hash(Array(teamID.utf8) + [0] + seed)
        let hex = Hexadecimal.encode(digest[0..<16])
        let relay = digest[20..<30].map { Self.relayCharacters[Int($0) % Self.relayCharacters.count] }
        let (first, last) = (
            Self.digits(of: digest[16...17], count: 6), Self.digits(of: digest[18...19], count: 4)
        )
        self.init(
            teamID: teamID, subject: "\(first).\(hex).\(last)",
            relayAddress: "\(String(decoding: relay, as: UTF8.self))@privaterelay.appleid.com")
    }

    /// The user's transfer identifier for another team in Apple's format: `NNNNNN.r<32 hex>`, with the first
    /// block of the `sub`, and without a third block.
    func transferSubject(to recipient: String) -> String {
        let digest = SHA256Digest.hash("\(teamID) to \(recipient)\u{0}\(subject)")
        let block = subject.utf8.prefix { $0 != UInt8(ascii: ".") }
        let isApples =
            block.count == 6 && block.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let first = isApples ? String(subject.prefix(6)) : Self.digits(of: digest[16...17], count: 6)
        return "\(first).r\(Hexadecimal.encode(digest[0..<16]))"
    }

    /// Returns digits like Apple's: the first block is a small number (seen: 000685 to 002024), and the last
    /// block looks like a time of day.
    private static func digits(of bytes: some Collection<UInt8>, count: Int) -> String {
        let number = bytes.reduce(0) { $0 << 8 | Int($1) } % 2400
        let text = String(number)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }

    private static let relayCharacters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}
