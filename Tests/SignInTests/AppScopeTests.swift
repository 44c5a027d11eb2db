import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct AppScopeTests {
    @Test func `allows the apps that it names`() throws {
        let deployment = try Deployment(apps: [Subject.app, Subject.other, Subject.foreign])
        let scope = AppScope.only(["com.example.other"])
        #expect(AppScope.all.allows(Subject.app))
        #expect(!scope.allows(Subject.app))
        #expect(scope.allows(Subject.other))
        #expect(deployment.visibility(in: .all) == .everything)
        #expect(
            deployment.visibility(in: scope)
                == .only(clientIDs: ["com.example.other"], teams: ["A1B2C3D4E5"]))
    }

    @Test func `allows nothing when it names nothing`() throws {
        let deployment = try Deployment(apps: [Subject.app])
        #expect(!AppScope.only([]).allows(Subject.app))
        #expect(deployment.visibility(in: .only([])) == .only(clientIDs: [], teams: []))
    }
}
