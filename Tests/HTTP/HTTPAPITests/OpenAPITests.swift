import AppAttestation
import AppleAccounts
import AppleIdentity
import Foundation
import KeySets
import NIOHTTP1
import SignIn
import TestSupport
import Testing

@testable import HTTPAPI

/// Checks that `openapi.yaml` is complete.
@Suite struct OpenAPITests {
    let text = OpenAPIDocument.text(version: "1.2.3")

    /// The operations under each path, found by indentation, which is uniform in our document.
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

    /// Text of an operation.
    private func described(_ id: String) -> Substring? {
        guard let start = text.firstRange(of: "operationId: \(id)\n")?.upperBound else { return nil }
        let rest = text[start...]
        let end = rest.firstRange(of: "\n      operationId:") ?? rest.firstRange(of: "\ncomponents:\n")
        return end.map { rest[..<$0.lowerBound] } ?? rest
    }

    /// Text of a schema.
    private func schema(_ name: String) -> Substring? {
        guard let start = text.firstRange(of: "\n    \(name):\n")?.upperBound else { return nil }
        var end = start
        while let line = text[end...].firstIndex(of: "\n"), text[end...].hasPrefix("      ") {
            end = text.index(after: line)
        }
        return text[start..<end]
    }

    /// The words of an open list, in their order.
    private func words(of name: String) -> [String]? {
        guard let described = schema(name),
            let start = described.firstRange(of: "x-extensible-enum: [")?.upperBound
        else { return nil }
        return described[start...].prefix { $0 != "]" }
            .split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    }

    /// Duplicate keys (YAML 1.2.2 §3.2.1.3): some readers refuse the whole document, others use the last
    /// value.
    @Test func `no mapping has a key twice`() {
        var open: [(indent: Int, keys: Set<Substring>)] = []
        var textBelow: Int?
        for line in text.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }.count
            if let above = textBelow, indent > above { continue }
            textBelow = line.hasSuffix("|") || line.hasSuffix(">") ? indent : nil
            let content = line.dropFirst(indent)
            while let last = open.last, last.indent > indent { open.removeLast() }
            // An element of a list begins a mapping of its own.
            if content.hasPrefix("- ") { continue }
            guard let colon = content.firstRange(of: ":")?.lowerBound else { continue }
            if open.last?.indent != indent { open.append((indent, [])) }
            let isNew = open[open.count - 1].keys.insert(content[..<colon]).inserted
            #expect(isNew, "\(line)")
        }
        #expect(!open.isEmpty)
    }

    @Test func `every call is described, and no other`() {
        var expected: [String: Set<String>] = [:]
        for endpoint in Endpoint.all {
            expected[endpoint.path.description, default: []].insert("\(endpoint.method)")
        }
        #expect(operations == expected)
    }

    @Test(arguments: Endpoint.all.indices)
    func `an operation is named by a verb, and described as what it is`(index: Int) throws {
        let endpoint = Endpoint.all[index]
        let operation = try #require(described(endpoint.name.description))
        // Google signs the token that it posts, which no scheme of OpenAPI describes.
        let signs = endpoint === Endpoint.receiveGoogleEvent
        #expect(operation.contains("security: []") == (endpoint.caller == .anyone || signs))
        let names = ["clientBasic: []", "accessToken: []"].contains { operation.contains($0) }
        #expect(names == (endpoint.caller == .oauthClient && !signs))
        let takesForm = [.form, .pageForm, .oauthForm].contains(endpoint.body)
        #expect(operation.contains("application/x-www-form-urlencoded:") == takesForm)
        #expect(operation.contains("requestBody:") == (endpoint.body != .none))
        let error =
            switch endpoint.errors {
            case .problem, .pageForBrowsers: "Problem"
            case .oauth: "OAuthError"
            case .page: "AuthorizeError"
            }
        #expect(operation.contains("default: { $ref: \"#/components/responses/\(error)\" }"))
    }

    @Test func `every call has an example, and every answer a schema with a name`() throws {
        for endpoint in Endpoint.all {
            let operation = try #require(described(endpoint.name.description))
            let takes = operation.contains("requestBody:") || operation.contains("parameters:\n")
            let responses = operation.contains("example:") || operation.contains("responses/Account")
            #expect(!takes || operation.contains("example:") || endpoint.path.description.contains("{id}"))
            #expect(
                responses || operation.contains("responses/Redirect") || operation.contains("\"204\":"))
            // Objects that stand in an operation itself have no name in generated clients.
            #expect(!operation.contains("schema:\n                type: object"))
        }
    }

    @Test func `every member of a schema has a description or a schema of its own`() throws {
        let schemas = try #require(text.firstRange(of: "\n  schemas:\n")?.upperBound)
        let lines = text[schemas...].split(separator: "\n", omittingEmptySubsequences: false)
        var (schema, inProperties, members) = (Substring(), false, 0)
        for (index, line) in lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            let content = line.dropFirst(indent)
            if indent == 4 { schema = content }
            if indent == 6 { inProperties = content == "properties:" }
            guard indent == 8, inProperties, !content.hasPrefix("-") else { continue }
            let below = lines[(index + 1)...].prefix { $0.hasPrefix("         ") }
            let described = ([line] + below).contains { $0.contains("description:") || $0.contains("$ref:") }
            #expect(described, "\(schema) \(content)")
            members += 1
        }
        #expect(members > 150)
    }

    @Test func `every call stands once in the list`() {
        let names = Endpoint.all.map(\.name.description)
        #expect(names.count == Set(names).count)
        let calls = Endpoint.all.map { "\($0.method) \($0.path)" }
        #expect(calls.count == Set(calls).count)
    }

    @Test func `every list of words is whole, and open`() {
        let lists: [(String, [String])] = [
            ("ProblemCode", ProblemType.all.map(\.code)),
            ("EmailForwarding", EmailForwarding.allCases.map(\.rawValue)),
            ("CredentialState", CredentialState.allCases.map(\.rawValue)),
            ("CredentialReason", CredentialReason.allCases.map(\.rawValue)),
            ("CredentialSource", CredentialSource.allCases.map(\.rawValue)),
            ("RefreshTokenCause", RefreshTokenCause.allCases.map(\.rawValue)),
            ("EventType", AccountEvent.Kind.allCases.map(\.rawValue)),
            ("GrantEndReason", GrantEndReason.allCases.map(\.rawValue)),
            ("DisablingReason", Disabling.Reason.allCases.map(\.rawValue)),
            ("ErasureOutcome", ["pending"] + ErasureOutcome.allCases.map(\.rawValue)),
            ("NotificationResult", Array(Set(NotificationReceipt.allCases.map(\.word)))),
            ("StorageCause", StorageError.Code.allCases.map(\.rawValue)),
            ("KeySetCause", ["not_refreshed"] + KeySetFetchError.Code.allCases.map(\.rawValue)),
        ]
        for (name, expected) in lists {
            let words = words(of: name) ?? []
            #expect(Set(words) == Set(expected), "\(name)")
            #expect(words.count == Set(words).count, "\(name)")
        }
        // Closed lists are for what callers send, and for nothing else.
        let closed = text.split(separator: "\n").filter { $0.contains(" enum: [") }
        #expect(closed.count == 2)
        for words in ["name email", "abuse, "] { #expect(closed.contains { $0.contains(words) }) }
    }

    @Test func `the page on the interface explains every code with its status, and no other`() throws {
        let page = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/api.md"), encoding: .utf8)
        let errors = try #require(page.components(separatedBy: "\n## Errors\n").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        var explained: [String: Set<Int>] = [:]
        for section in errors.components(separatedBy: "\n### ").dropFirst() {
            // Where all rows have one status, the heading says it.
            let heading = section.prefix { $0 != "\n" }
            let statuses = Set(heading.matches(of: /\d{3}/).compactMap { Int($0.0) })
            for row in section.matches(of: /\n\| ((?:`[a-z_]+`(?:, )?)+) \|(?: (\d{3}) \|)?/) {
                let own = row.2.flatMap { Int($0) }.map { Set([$0]) } ?? statuses
                #expect(own.isSubset(of: statuses.union([429])), "\(heading): \(row.0)")
                for code in row.1.matches(of: /[a-z_]+/) {
                    explained[String(code.0), default: []].formUnion(own)
                }
            }
        }
        #expect(Set(explained.keys) == Set(ProblemType.all.map(\.code)))
        // No problem has them as its code: a proof that does not hold has them as its cause.
        let causes: [AccountRefusal.Code] = [
            .challengeUsed, .counterNotIncreased, .attestationKeyUnknown, .attestationKeyTaken,
        ]
        for type in ProblemType.all where !causes.contains(where: { $0.rawValue == type.code }) {
            #expect(explained[type.code]?.contains(Int(type.status.code)) == true, "\(type.code)")
        }
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
            let response = try await service.call("GET", "/openapi.yaml", secret: nil)
            #expect(response.status == 200)
            #expect(response["content-type"] == "application/yaml")
            #expect(response.text == OpenAPIDocument.text(version: "0.0.1-test"))
        }
    }
}
