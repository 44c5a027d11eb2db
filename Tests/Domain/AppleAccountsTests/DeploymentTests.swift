import AppleAccounts
import StorageConformance
import Testing

@Suite struct DeploymentTests {
    static let app = App(
        team: "A1B2C3D4E5", primaryClientID: "com.example.app",
        otherClientIDs: ["com.example.web", "com.example.app"])
    static let other = App(team: "OTHERTEAM1", primaryClientID: "org.example.app")

    @Test func `finds the app of each of its client IDs`() throws {
        let deployment = try Deployment(apps: [Self.app, Self.other])
        #expect(deployment.app(for: "com.example.app") == Self.app)
        #expect(deployment.app(for: "com.example.web") == Self.app)
        #expect(deployment.app(for: "org.example.app") == Self.other)
        #expect(deployment.clientIDs == ["com.example.app", "com.example.web", "org.example.app"])
    }

    @Test(
        arguments: ["COM.EXAMPLE.APP", "com.example", "com.example.app ", "com.example.\u{212A}"]
            as [ClientID])
    func `finds no app of another client ID`(clientID: ClientID) throws {
        #expect(try Deployment(apps: [Self.app]).app(for: clientID) == nil)
    }

    @Test func `refuses a client ID in two apps`() {
        #expect(throws: DeploymentError(.clientIDInTwoApps, detail: "")) {
            try Deployment(apps: [
                Self.app, App(team: "OTHERTEAM1", primaryClientID: "x", otherClientIDs: ["com.example.web"]),
            ])
        }
    }

    @Test func `refuses to have no app`() {
        #expect(throws: DeploymentError(.noApps, detail: "")) { try Deployment(apps: []) }
    }
}
