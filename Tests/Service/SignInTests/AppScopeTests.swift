import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct AppScopeTests {
    @Test func `allows the apps that it names`() throws {
        let scope = AppScope.only(["com.example.other"])
        #expect(AppScope.all.allows(Subject.app))
        #expect(!scope.allows(Subject.app))
        #expect(scope.allows(Subject.other))
    }

    @Test func `allows nothing when it names nothing`() throws {
        #expect(!AppScope.only([]).allows(Subject.app))
        #expect(!AppScope.only([]).allowsAny(of: [Subject.app.primaryClientID]))
    }
}
