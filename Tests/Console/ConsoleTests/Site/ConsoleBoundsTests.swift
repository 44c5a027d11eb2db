import NIOHTTP1
import Testing

@testable import Console
@testable import HTTPEngine

/// Queries and forms that are too large or malformed.
@Suite struct ConsoleBoundsTests {
    @Test(arguments: [
        String(repeating: "a", count: ConsoleFields.mostBytes + 1),
        (0...ConsoleFields.mostFields).map { "a\($0)=1" }.joined(separator: "&"),
        "a=%", "a=%4", "a=%zz", "%ff=1", "a=%00", "a=%C3%28",
    ])
    func `a query or form that is malformed or too large is refused`(fields: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let query = await console.get("/console/first?\(fields)")
        #expect(query.status == .badRequest)
        #expect(query.code == "parameter_malformed")
        let form = await console.send(.POST, "/console/first", body: "csrf=\(token)&\(fields)")
        #expect(form.status == .badRequest)
        #expect(console.carriedOut.isEmpty)
    }

    @Test func `the largest query and form pass`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let most = (1...ConsoleFields.mostFields).map { "a\($0)=1" }.joined(separator: "&")
        #expect(await console.get("/console/first?\(most)").status == .ok)
        let token = try await console.formToken()
        let body = "csrf=\(token)&what="
        let text = String(repeating: "x", count: ConsoleFields.mostBytes - body.utf8.count)
        #expect(await console.send(.POST, "/console/first", body: body + text).status == .seeOther)
        #expect(console.carriedOut == [text])
    }

    @Test(arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
    func `a body that is no form is refused`(type: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let response = await console.send(
            .POST, "/console/first", body: "csrf=\(token)", headers: [("content-type", type)])
        #expect(response.status == .badRequest)
        #expect(console.carriedOut.isEmpty)
    }
}
