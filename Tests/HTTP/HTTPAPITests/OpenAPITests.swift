import AppleAccounts
import NIOHTTP1
import SignIn
import StrictJSON
import TestSupport
import Testing
import Yams

import struct Foundation.URL

@testable import HTTPAPI

/// Checks the document that is made from the declarations.
@Suite struct OpenAPITests {
    private var service: RunningService { .current }

    let tree = JSONValue.object(OpenAPIDocument.tree(version: "1.2.3"))

    /// A place of the document, as the names that lead to it.
    private typealias Place = String

    /// Where the document is meant to differ from the one that was written by hand, with the reason. An entry covers
    /// everything below its place.
    private static let differences: [(place: Place, reason: String)] = [
        (
            "/paths//v1/credentials/{sub}/get/parameters/1",
            "The one parameter that was a component stands at its call."
        ), ("/components/parameters", "For the same reason."),
        ("/paths//v1/events/get/responses/200/links/next", "The link is a component like all others."),
        ("/components/links/NextEvents", "For the same reason."),
    ]

    /// A document that is made from the code repeats the code's mistakes, so it is compared with one that was written by
    /// hand. That one changes only by hand.
    @Test func `it equals the document that was written by hand, member by member`() throws {
        let oracle = ProjectFolder.root.appending(path: "Tests/siwa/Schemathesis/openapi.yaml")
        let written = try Self.tree(try String(contentsOf: oracle, encoding: .utf8))
        let made = JSONValue.object(OpenAPIDocument.tree(version: "0.0.0"))
        var found: Set<Place> = []
        for (place, difference) in Self.compare(written, made, at: "") {
            let known = Self.differences.first { place == $0.place || place.hasPrefix($0.place + "/") }
            if let known { found.insert(known.place) } else { Issue.record("\(place): \(difference)") }
        }
        #expect(found == Set(Self.differences.map(\.place)), "a place is listed that does not differ")
    }

    /// White space of texts may differ: lines break elsewhere.
    private static func compare(_ old: JSONValue, _ new: JSONValue, at place: Place) -> [(Place, String)] {
        switch (old, new) {
        case (.object(let old), .object(let new)):
            let names = Set(old.members.map(\.name) + new.members.map(\.name))
            return names.flatMap { name -> [(Place, String)] in
                let place = "\(place)/\(name)"
                guard let first = old[name] else { return [(place, "is not in the written document")] }
                guard let second = new[name] else { return [(place, "is not in the made document")] }
                return compare(first, second, at: place)
            }
        case (.array(let old), .array(let new)):
            let sets = ["required", "x-extensible-enum", "enum"]
            if sets.contains(where: { place.hasSuffix("/\($0)") }) {
                let (old, new) = (old.compactMap(\.string).sorted(), new.compactMap(\.string).sorted())
                return old == new ? [] : [(place, "\(old) became \(new)")]
            }
            guard old.count == new.count else {
                return [(place, "\(old.count) became \(new.count) elements")]
            }
            return zip(old, new).enumerated().flatMap { compare($1.0, $1.1, at: "\(place)/\($0)") }
        case (.string(let old), .string(let new)):
            return words(old) == words(new) ? [] : [(place, "\(old) became \(new)")]
        default: return old == new ? [] : [(place, "\(old) became \(new)")]
        }
    }

    private static func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }

    /// Reads YAML with a library.
    private static func tree(_ yaml: String) throws -> JSONValue {
        func value(_ node: Node) throws -> JSONValue {
            switch node {
            case .mapping(let mapping):
                .object(JSONObject(try mapping.map { (try #require($0.key.string), try value($0.value)) }))
            case .sequence(let sequence): .array(try sequence.map { try value($0) })
            case .scalar(let scalar):
                if scalar.style != .plain {
                    .string(scalar.string)
                } else if let number = node.int {
                    .integer(Int64(number))
                } else if let bool = node.bool, ["true", "false"].contains(scalar.string) {
                    .bool(bool)
                } else {
                    scalar.string == "null" ? .null : .string(scalar.string)
                }
            case .alias: .null
            }
        }
        return try value(try #require(try Yams.compose(yaml: yaml)))
    }

    @Test func `the YAML has the whole tree`() throws {
        #expect(try Self.tree(OpenAPIDocument.text(version: "1.2.3")) == tree)
    }

    @Test(arguments: [
        "true", "No", "null", "~", "", " ", "a: b", "a #b", "- a", "1", "1_0", "0x1F", "1e3", "2026-11-21",
        "4.2", "@a", "`a`",
        "a\"b", "a\\b", "a\nb", "a\n b", " a\nb", "a\n", "\na", "a \nb", "a\u{7}\nb", "{a}", "a, b", "[a]",
        "*a", "&a", "?", ":",
        "ä", "a:", "%a", "|", "> a", "'a", "=", "<<",
    ])
    func `a text stays a text in YAML, as a name, as a value and in a line`(text: String) throws {
        let long = JSONValue.string(String(repeating: "long ", count: 30))
        let object = JSONObject([
            (text, .string(text)), ("list", [.string(text)]), ("members", [text: .string(text)]),
            ("below", [text: .string(text), "more": long]), ("rows", [.string(text), long]),
        ])
        #expect(try Self.tree(YAMLText.document(object)) == .object(object))
    }

    /// Generated clients have no name for objects that stand in an operation itself.
    @Test(arguments: Endpoint.all.indices)
    func `a call says what it takes and returns, with an example`(index: Int) throws {
        let (endpoint, operation) = (Endpoint.all[index], Endpoint.all[index].operation)
        #expect((operation.takes == nil) == (endpoint.body == .none))
        let bodies = operation.returns.compactMap(\.content)
        #expect(
            bodies.isEmpty || bodies.contains { $0.example != nil }
                || endpoint.path.description.contains("{id}")
                || endpoint === Endpoint.redeemWebCode || endpoint === Endpoint.registerClientKey)
        #expect(!operation.returns.isEmpty)
        for body in bodies where body.mediaType == "application/json" {
            #expect(body.schema.keywords["$ref"] != nil || body.schema.keywords["oneOf"] != nil)
        }
        // Google signs the token that it posts, which no scheme of OpenAPI describes.
        let isGoogle = endpoint === Endpoint.receiveGoogleEvent
        #expect(operation.security.isEmpty == (endpoint.caller != .oauthClient || isGoogle))
        let parameters = operation.parameters.filter { $0.place != .query || $0.isRequired }
        #expect(parameters.allSatisfy { $0.example != nil })
        for name in endpoint.path.description.matches(of: /\{(\w+)\}/).map({ String($0.output.1) }) {
            #expect(operation.parameters.contains { $0.place == .path && $0.name == name })
        }
    }

    /// A client that is generated has one type for each name.
    @Test func `schemas of one name are equal`() {
        var keywords: [String: JSONObject] = [:]
        func visit(_ components: [JSONSchema.Component]) {
            for component in components {
                let schema = component.schema()
                if let known = keywords[component.name] {
                    #expect(known == schema.keywords, "\(component.name)")
                } else {
                    keywords[component.name] = schema.keywords
                    visit(schema.components)
                }
            }
        }
        for operation in Endpoint.all.map(\.operation) {
            visit(operation.parameters.flatMap(\.schema.components))
            visit(operation.takes?.schema.components ?? [])
            visit(operation.returns.flatMap { $0.content?.schema.components ?? [] })
        }
        #expect(keywords.count > 100)
    }

    @Test func `the document beside the pages is the one that siwa prints`() throws {
        let file = ProjectFolder.root.appending(path: "docs/openapi.yaml")
        let written = try String(contentsOf: file, encoding: .utf8)
        let version = try #require(written.firstMatch(of: /version: "([^"]+)"/)?.output.1)
        #expect(OpenAPIDocument.text(version: String(version)) == written)
    }

    @Test func `every member of a schema has a description or a schema of its own`() throws {
        let schemas = try #require(tree["components"]?["schemas"]?.object)
        var members = 0
        for (schema, value) in schemas.members {
            for (name, member) in value["properties"]?.object?.members ?? [] {
                let isDescribed = ["description", "$ref", "allOf", "anyOf"].contains { member[$0] != nil }
                #expect(isDescribed, "\(schema) \(name)")
                members += 1
            }
        }
        #expect(members > 150)
    }

    @Test func `every call stands once in the list`() {
        let names = Endpoint.all.map(\.name.description)
        #expect(names.count == Set(names).count)
        let calls = Endpoint.all.map { "\($0.method) \($0.path)" }
        #expect(calls.count == Set(calls).count)
    }

    @Test func `the page on the interface explains every code with its status, and no other`() throws {
        let page = try String(contentsOf: ProjectFolder.root.appending(path: "docs/api.md"), encoding: .utf8)
        let errors = try #require(page.components(separatedBy: "\n## Errors\n").dropFirst().first).components(
            separatedBy: "\n## ")[0]
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

    @Test(.service())
    func `it is served to everybody`() async throws {
        let response = try await service.get("/openapi.yaml", secret: nil).expecting(200)
        #expect(response["content-type"] == "application/yaml")
        #expect(response.text == OpenAPIDocument.text(version: "0.0.1-test"))
    }
}
