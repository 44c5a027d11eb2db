import AppleEmulator
import AppleIDClient
import Foundation

/// A file with the key that signs client secrets, as Apple gives it out: a service that is tried against the fake Apple
/// reads the same file.
struct ClientKeyFile {
    let path: String
    let keyID: String

    struct KeyIDMissing: Error, CustomStringConvertible {
        var description: String { "--key-id is needed: the file is not named AuthKey_<key ID>.p8" }
    }

    /// Throws `KeyIDMissing` when neither the caller nor the name says it.
    init(path: String, keyID: String?) throws {
        guard let keyID = keyID ?? SigningKeyLocation.keyID(inFileName: path) else { throw KeyIDMissing() }
        (self.path, self.keyID) = (path, keyID)
    }

    /// Makes a key, and the file for its owner's eyes only, when there is none. Throws `EmulatorError` for a file that
    /// holds no key on P-256.
    func readOrMake(teamID: String) throws -> ClientKey {
        guard !FileManager.default.fileExists(atPath: path) else {
            let pem = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
            return try ClientKey(teamID: teamID, keyID: keyID, pem: pem)
        }
        let key = try ClientKey.generate(teamID: teamID, keyID: keyID)
        let content = Data((key.privateKeyPEM ?? "").utf8)
        try PrivateFile.make(at: path, content: content)
        return key
    }
}
