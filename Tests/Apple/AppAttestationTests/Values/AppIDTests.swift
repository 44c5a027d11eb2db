import AppAttestation
import Cryptography
import Testing

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
