import AppAttestation
import Cryptography
import Encodings
import Testing

@Suite struct AttestedKeyIDTests {
    static let sample = "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV0="

    @Test func `reads the text that a client has`() {
        #expect(AttestedKeyID(base64: Self.sample)?.base64 == Self.sample)
    }

    @Test(arguments: [
        "", String(sample.dropLast()), sample + "=", sample.replacing("+", with: "-"), sample + "\n",
        // Unused bits that are set: a second text for the same bytes.
        "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV1=", "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV==",
    ])
    func `refuses any other text`(text: String) {
        #expect(AttestedKeyID(base64: text) == nil)
    }
}

extension AttestedKeyID {
    /// The text that a client has for a key, computed without the module.
    static func base64(ofKey point: [UInt8]) -> String {
        Base64.encode(SHA256Digest.hash(point).bytes)
    }
}

@Suite struct AppIDTests {
    @Test func `the digest is the hash of team and bundle ID`() {
        let appID = AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.my-App")
        #expect(appID?.text == "A1B2C3D4E5.com.example.my-App")
        #expect(appID?.digest == SHA256Digest.hash("A1B2C3D4E5.com.example.my-App"))
    }

    @Test(arguments: ["", "A1B2C3D4E", "A1B2C3D4E5F", "a1b2c3d4e5", "A1B2C3D4E ", "A1B2C.D4E5", "Ä1B2C3D4E"])
    func `refuses other team IDs`(teamID: String) {
        #expect(AppID(teamID: teamID, bundleID: "com.example.app") == nil)
    }

    @Test(arguments: [
        "", "*", "com.example.*", "com.example app", "com/example", "com.exämple", "com.example.app\n",
    ])
    func `refuses bundle IDs with other characters`(bundleID: String) {
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: bundleID) == nil)
    }

    @Test func `refuses bundle IDs that are too long`() {
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: String(repeating: "a", count: 155)) != nil)
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: String(repeating: "a", count: 156)) == nil)
    }
}

@Suite struct ClientDataHashTests {
    @Test func `hashes the bytes as they are`() {
        #expect(ClientDataHash(hashing: [1, 2, 3]).bytes == SHA256Digest.hash([1, 2, 3]).bytes)
        #expect(ClientDataHash(hashing: []).bytes.count == 32)
    }

    @Test func `takes bytes that are no hash, from 16 to 64`() {
        for count in [16, 24, 32, 64] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count))?.bytes.count == count)
        }
        for count in [0, 15, 65] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }
}
