import AppleAccounts
import ArgumentParser
import Composition
import Cryptography
import Encodings
import Foundation
import HTTPAPI
import KeySets

/// The `siwa sealing-key` command.
struct MakeSealingKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealing-key",
        abstract: "Create a sealing key, which encrypts tokens and private keys in the database.",
        discussion: """
            Set SIWA_SEALING_KEYS to the printed line. With this key the service encrypts Apple's \
            authorization codes and refresh tokens, and the private keys that sign its own tokens. Keep a \
            copy of the key, in another place than the database: without the key, the encrypted values are \
            lost.

            To rotate keys, put the new key before the old ones (comma-separated), restart the service, run \
            siwa reseal, and then remove the old keys. Do not rename a key: every encrypted value contains \
            the name of its key. Keep a copy of an old key as long as backups from its time: without it, their values \
            are lost.
            """)

    @Option(
        help:
            "The name of the key: 1 to 32 letters, digits, '_' and '-'. Default: the current date, so that a second key on one day needs a name."
    )
    var name: String?

    func validate() throws {
        guard let name else { return }
        guard SealingKey(name: name, bytes: [UInt8](repeating: 0, count: SealingKey.size)) != nil else {
            throw ValidationError("--name must be 1 to 32 letters, digits, '_' and '-'.")
        }
    }

    func run() throws {
        let now = Moment(milliseconds: SystemKeySetClock().millisecondsSince1970)
        let today = String(now.rfc3339.prefix(10))
        let known = (ProcessInfo.processInfo.environment[Setting.sealingKeys.name] ?? "").split(
            separator: ",")
        guard !known.contains(where: { $0.drop(while: \.isWhitespace).hasPrefix("\(name ?? today)=") }) else {
            throw ValidationError(
                "SIWA_SEALING_KEYS has a key named \(name ?? today) already. Give the new key another name, for "
                    + "example --name \(today)-2.")
        }
        print("\(name ?? today)=\(Base64.encode(SecureRandom.bytes(count: SealingKey.size)))")
    }
}

/// The `siwa api-key` command.
struct MakeAPIKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-key",
        abstract: "Create an API key for a caller.",
        discussion: """
            Give the key to the caller and do not store it; the service needs only the hash. Add the hash to \
            SIWA_API_KEY_HASHES (comma-separated), or to api_keys in the configuration file.
            """)

    @Option(help: "The name of the caller in the log: letters, digits, '.', '_' and '-'.")
    var name = "backend"

    func validate() throws {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
        guard (1...64).contains(name.count), name.allSatisfy(allowed.contains) else {
            throw ValidationError("--name must be 1 to 64 letters, digits, '.', '_' and '-'.")
        }
    }

    func run() {
        let secret = APIKeySecret.make()
        print("key:  \(secret)")
        print("hash: \(name)=\(Hexadecimal.encode(APIKeySecret.hash(secret)))")
    }
}
