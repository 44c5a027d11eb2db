import AppleEmulator
import AppleIDClient
import EmulatorServer
import Foundation
import JOSE
import TestSupport
import Testing

@testable import siwa

@Suite struct ClientKeyFileTests {
    @Test func `generates a key that a service can sign with, and reads it again`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/AuthKey_ABC123DEFG.p8"
        let file = try ClientKeyFile(path: path, keyID: nil)
        let made = try file.readOrMake(teamID: "TEAM000001")
        #expect(made.keyID == "ABC123DEFG")
        #expect(try file.readOrMake(teamID: "TEAM000001").publicKey.x == made.publicKey.x)
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        #expect(throws: Never.self) { try ClientSigningKey(keyID: "ABC123DEFG", pem: pem) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: EmulatorError(.clientKeyRefused)) { try file.readOrMake(teamID: "TEAM000001") }
    }

    @Test func `requires the key ID`() {
        #expect(throws: ClientKeyFile.KeyIDMissing.self) { try ClientKeyFile(path: "/x/key.pem", keyID: nil) }
        #expect(throws: Never.self) { try ClientKeyFile(path: "/x/key.pem", keyID: "ABC123DEFG") }
    }
}
