import AppleAccounts
import ArgumentParser
import Cryptography
import Encodings
import Foundation
import KeySets

/// `siwa sealing-key`
struct MakeSealingKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealing-key",
        abstract: "Make a key that seals refresh tokens in the database.",
        discussion: """
            Put it into SIWA_SEALING_KEYS, and keep a copy away from the database: without it what was sealed is lost. To \
            rotate, put the new key in front of the old ones (comma-separated), restart the service, run siwa reseal, and \
            then take the old ones away. A key keeps its name for ever.
            """)

    @Option(help: "What the key is called: 1 to 32 letters, digits, '_' and '-'. Today's date unless given.")
    var name: String?

    func validate() throws {
        guard let name else { return }
        guard SealingKey(name: name, bytes: [UInt8](repeating: 0, count: SealingKey.size)) != nil else {
            throw ValidationError("--name takes 1 to 32 letters, digits, '_' and '-'.")
        }
    }

    func run() {
        let today = Moment(milliseconds: SystemKeySetClock().millisecondsSince1970).rfc3339.prefix(10)
        print("\(name ?? String(today))=\(Base64.encode(SecureRandom.bytes(count: SealingKey.size)))")
    }
}
