import ArgumentParser
import Encodings
import HTTPAPI

/// `siwa api-key`
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
