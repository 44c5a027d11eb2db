import EmulatorServer
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import AppleEmulator

@Suite struct TokenTableTests {
    @Test func `drops its oldest tenth when it is full`() {
        var table = TokenTable<String, Int>(capacity: 100)
        for number in 0..<100 { table.insert("t\(number)", number, of: "owner\(number % 3)") }
        #expect(table.count == 100)
        table.insert("new", 100, of: "owner")
        #expect(table.count <= 100)
        #expect(table["new"] == 100)
        #expect(table["t0"] == nil)
        #expect(table["t10"] == nil)
        #expect(table["t50"] == 50)
        #expect(table["t99"] == 99)
        #expect(!table.values(of: "owner0").contains(0))
    }

    @Test func `compares secrets as bytes`() {
        var table = TokenTable<String, Int>(capacity: 10)
        table.insert("rK", 1, of: "owner")
        #expect(table["rK"] == 1)
        // The Kelvin sign, which is canonically equivalent to the letter K.
        #expect(table["r\u{212A}"] == nil)
        #expect(table.owner(of: "r\u{212A}") == nil)
    }

    @Test func `removes the secrets of one owner only`() {
        var table = TokenTable<String, Int>(capacity: 100)
        for number in 0..<10 { table.insert("t\(number)", number, of: number < 5 ? "a" : "b") }
        table.removeAll(of: "a")
        #expect(table.count == 5)
        #expect(table["t4"] == nil)
        #expect(table.owner(of: "t5") == "b")
        table.removeAll { $0 == "b" }
        #expect(table.count == 0)
    }
}

/// The record of requests at the fake Apple.
@Suite(.apple()) struct ExchangeTests {
    let apple = EmulatorUnderTest.current

    @Test func `says who asks for what by which section, and shows no whole secret`() async throws {
        let code = try await apple.code()
        let tokens = try await apple.exchange(code).json
        let token = try #require(tokens["refresh_token"]?.string)
        _ = try await apple.refresh(token)
        _ = try await apple.get("/auth/keys")
        _ = try await apple.revoke(token)
        let exchanges = apple.emulator.state.exchanges
        #expect(exchanges.map(\.step) == [.appleCodeExchange, .appleRefresh, .appleKeys, .appleRevocation])
        #expect(exchanges.map(\.status) == [200, 200, 200, 200])
        #expect(exchanges.map(\.number) == [1, 2, 3, 4])
        #expect(zip(exchanges, exchanges.dropFirst()).allSatisfy { $0.span.end <= $1.span.begin })
        #expect(exchanges[0].step.standard == "RFC 6749 §4.1.3")
        #expect((exchanges[0].step.from, exchanges[0].step.to) == (.siwa, .apple))
        // The tokens are decoded in place.
        #expect(exchanges[0].request.contains("grant_type = authorization_code"))
        #expect(exchanges[0].response.contains("https://appleid.apple.com"))
        let identityToken = try #require(tokens["id_token"]?.string)
        for exchange in exchanges {
            let text = exchange.request + exchange.response
            for secret in [code, token, identityToken] { #expect(!text.contains(secret)) }
        }
    }

    @Test func `what siwa doctor tries is routine`() async throws {
        #expect(try await apple.exchange("siwa-doctor-asks-with-a-code-that-cannot-be").status == 400)
        let steps = apple.emulator.state.exchanges.map(\.step)
        #expect(steps == [.appleSecretTrial] && steps.allSatisfy(\.isRoutine))
        // The keys, and the page, which nobody has opened.
        let agent: HTTPHeaders = ["User-Agent": "siwa-doctor"]
        _ = try await apple.send(.GET, "/auth/keys", headers: agent)
        _ = try await apple.send(.GET, "/auth/authorize?client_id=x", headers: agent)
        let others = apple.emulator.state.exchanges.dropFirst().map(\.step)
        #expect(others == [.appleKeysTrial, .applePageTrial])
        #expect(others.allSatisfy { $0.isRoutine && $0.from == .siwa })
    }

    @Test(arguments: [
        (#"{"status":503,"times":1}"#, 503, "503"), (#"{"cut":"before_work","times":1}"#, nil, "cut"),
        (#"{"body":"html","times":1}"#, 400, "text/html"),
    ])
    func `shows the answer of a fault`(fault: String, status: Int?, words: String) async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/token", body: fault)
        _ = try? await apple.refresh("unknown")
        // A cut connection ends before the record.
        try await eventually { apple.emulator.state.exchanges.count == 1 }
        let exchange = apple.emulator.state.exchanges[0]
        #expect(exchange.status == status && exchange.response.contains(words))
    }

    @Test func `checks that repeat do not push the others out, and both are bounded`() async throws {
        _ = try await apple.get("/auth/keys")
        for _ in 0..<51 { _ = try await apple.refresh("unknown") }
        let exchanges = apple.emulator.state.exchanges
        #expect(exchanges.count == 51)
        #expect(exchanges[0].step == .appleKeys && exchanges[1].number == 3)
        for _ in 0..<51 { _ = try await apple.get("/.well-known/openid-configuration") }
        #expect(apple.emulator.state.exchanges.count == 100)
        #expect(!apple.emulator.state.exchanges.contains { $0.step == .appleKeys })
    }

    @Test func `a body that is too large is refused as before`() async throws {
        let large = String(repeating: "a", count: 70 * 1024)
        #expect(try await apple.call("/auth/token", ["grant_type": large]).error == "invalid_request")
        #expect(apple.emulator.state.exchanges[0].request.utf8.count < 1000)
    }

    @Test func `a notification is an exchange of Apple with siwa`() async throws {
        try apple.emulator.state.setNotificationURL("http://127.0.0.1:1/v1/apple/notifications")
        _ = try await apple.emulator.carryOut(.revokeConsent)
        let exchange = try #require(apple.emulator.state.exchanges.first)
        #expect(exchange.step == .appleNotification && exchange.status == nil)
        #expect(exchange.request.contains("consent-revoked"))
        #expect(exchange.response == "connection_failed")
    }
}
