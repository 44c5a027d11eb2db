import Cryptography
import Encodings

/// What one developer team knows a person as: Apple gives every team another `sub` and another relay address.
public struct TeamIdentity: Sendable, Equatable, Codable {
    public let teamID: String
    /// Looks like `NNNNNN.<32 hex>.NNNN`.
    public let subject: String
    /// Forwards to the person's real address, at `privaterelay.appleid.com`.
    public let relayAddress: String

    public init(teamID: String, subject: String, relayAddress: String) {
        (self.teamID, self.subject, self.relayAddress) = (teamID, subject, relayAddress)
    }

    /// An identity in Apple's form, derived from `seed`: the same seed gives the same person.
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

    /// What stands for the person on the way to another team, in the form of real ones: `NNNNNN.r<32 hex>`, with the first
    /// block of their `sub`, and no third.
    func transferSubject(to recipient: String) -> String {
        let digest = SHA256Digest.hash("\(teamID) to \(recipient)\u{0}\(subject)")
        let block = subject.utf8.prefix { $0 != UInt8(ascii: ".") }
        let isApples =
            block.count == 6 && block.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let first = isApples ? String(subject.prefix(6)) : Self.digits(of: digest[16...17], count: 6)
        return "\(first).r\(Hexadecimal.encode(digest[0..<16]))"
    }

    /// Apple's first block is a small number (seen: 000685 to 002024), its last one looks like a time of day.
    private static func digits(of bytes: some Collection<UInt8>, count: Int) -> String {
        let number = bytes.reduce(0) { $0 << 8 | Int($1) } % 2400
        let text = String(number)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }

    private static let relayCharacters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}
