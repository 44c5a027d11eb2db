import Foundation
import TestSupport
import Testing

@testable import siwa

@Suite struct ServiceManagerTests {
    @Test func `tells the socket that the environment names`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "notify")
            let socket = try NotifySocket(path)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path]))
            #expect(manager.tell("READY=1"))
            #expect(manager.tell("STOPPING=1"))
            #expect(socket.next() == "READY=1")
            #expect(socket.next() == "STOPPING=1")
            #expect(socket.next() == nil)
        }
    }

    #if os(Linux)
        @Test func `tells a socket with an abstract name`() throws {
            let name = "@siwa-test-\(UUID().uuidString)"
            let socket = try NotifySocket(name)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
            #expect(manager.tell("READY=1"))
            #expect(socket.next() == "READY=1")
        }
    #endif

    @Test func `reports that nothing listens there`() throws {
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
        #expect(!manager.tell("READY=1"))
    }

    @Test(arguments: ["", "/", "@", "vsock:2:1", "notify", "/" + String(repeating: "a", count: 200)])
    func `takes nothing else for a socket`(address: String) {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": address]) == nil)
    }

    @Test func `is absent without the variable`() {
        #expect(ServiceManager(environment: [:]) == nil)
    }
}
