import AppleEmulator
import AppleIDClient
import Cryptography
import Foundation

/// A file with the key that signs client secrets, in the format of Apple's `.p8` files. A service that is
/// tested with the fake Apple reads the same file.
struct ClientKeyFile {
    let path: String
    let keyID: String

    struct KeyIDMissing: Error, CustomStringConvertible {
        var description: String { "--key-id is needed: the file is not named AuthKey_<key ID>.p8" }
    }

    /// Throws `KeyIDMissing` when the key ID is neither given nor part of the file name.
    init(path: String, keyID: String?) throws {
        guard let keyID = keyID ?? SigningKeyLocation.keyID(inFileName: path) else { throw KeyIDMissing() }
        (self.path, self.keyID) = (path, keyID)
    }

    /// Reads the key. Without a file, it generates a key and creates the file, readable only for its owner.
    /// Throws `EmulatorError` when the file has no P-256 key.
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
