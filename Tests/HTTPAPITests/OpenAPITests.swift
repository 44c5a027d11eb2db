import AppleAccounts
import AppleIdentity
import SignIn
import Testing

@testable import HTTPAPI

/// The description leaves nothing out.
@Suite struct OpenAPITests {
    let text = OpenAPIDocument.text(version: "1.2.3")

    /// The operations under each path, by indentation: the document is ours, and keeps to one form.
    private var operations: [String: Set<String>] {
        var operations: [String: Set<String>] = [:]
        var path = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("components:") { break }
            if line.hasPrefix("  /"), line.hasSuffix(":") { path = String(line.dropFirst(2).dropLast()) }
            for method in ["get", "post", "delete", "put"] where line == "    \(method):" {
                operations[path, default: []].insert(method)
            }
        }
        return operations
    }

    @Test func `every call is described, and no other`() {
        var expected: [String: Set<String>] = [:]
        for route in Route.allCases {
            expected[route.template.description, default: []].insert("\(route.method)")
        }
        #expect(operations == expected)
    }

    @Test func `only public calls are described as public`() {
        for route in Route.allCases {
            let start = text.firstRange(of: "operationId: \(route)\n")?.upperBound
            let rest = start.map { text[$0...].prefix { _ in true } } ?? ""
            let operation = rest.firstRange(of: "operationId:").map { rest[..<$0.lowerBound] } ?? rest
            let own =
                operation.firstRange(of: "components:\n").map { operation[..<$0.lowerBound] } ?? operation
            #expect(start != nil)
            #expect(own.contains("security: []") == route.isPublic)
            #expect(own.contains("application/x-www-form-urlencoded:") == (route.body == .form))
            #expect(own.contains("requestBody:") == (route.body != .none))
        }
    }

    @Test func `every code of a problem is listed`() {
        let list = text.split(separator: "\n").first { $0.contains("enum: [request_malformed") } ?? ""
        let all = list.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        let words = Set(all)
        #expect(words.count == all.count)
        let codes =
            ProblemCode.allCases.map(\.rawValue) + AppleTokenError.Code.allCases.map(\.rawValue)
            + AccountRefusal.Code.allCases.map(\.rawValue) + WebRefusal.Code.allCases.map(\.rawValue)
        for code in codes { #expect(words.contains(code)) }
    }

    @Test func `nothing is referred to that is not there, and no tab is in it`() {
        for piece in text.split(separator: "\"#/components/").dropFirst() {
            let path = piece.prefix { $0 != "\"" }.split(separator: "/")
            #expect(path.count == 2)
            #expect(text.contains("\n  \(path[0]):\n"))
            #expect(text.contains("\n    \(path[1]):"))
        }
        #expect(!text.contains("\t"))
        #expect(text.hasPrefix("openapi: 3.1.0\n"))
        #expect(text.contains("version: \"1.2.3\""))
    }

    @Test func `it is served to everybody`() async throws {
        try await RunningService.with { service in
            let answer = try await service.call("GET", "/openapi.yaml", secret: nil)
            #expect(answer.status == 200)
            #expect(answer["content-type"] == "application/yaml")
            #expect(answer.text == OpenAPIDocument.text(version: "0.0.1-test"))
        }
    }
}
