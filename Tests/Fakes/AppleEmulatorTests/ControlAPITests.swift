import EmulatorServer
import Encodings
import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// The description of the control API, which a client reads before it knows any call.
@Suite(.apple()) struct ControlAPITests {
    let apple = EmulatorUnderTest.current

    private func document() async throws -> JSONValue {
        let response = try await apple.get("/emulator/openapi.json")
        #expect(response.status == 200)
        #expect(response.headers.first(name: "Content-Type") == "application/json")
        return try JSONValue(parsing: response.body, limits: JSONLimits(depth: 32, members: 1000))
    }

    @Test func `the table of the page has every call and every member, and no other`() async throws {
        let page = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/emulator.md"), encoding: .utf8)
        let document = Data(try await apple.get("/emulator/openapi.json").body)
        let differences = try CallTable(of: page, below: "### Calls").differences(from: document)
        #expect(differences == [])
    }

    @Test func `it names the address by which the client reached the emulator`() async throws {
        let here = "http://127.0.0.1:\(apple.port)"
        #expect(try await document()["servers"] == [["url": .string(here)]])
        let other = try await apple.get("/emulator/openapi.json", headers: ["Host": "apple.localhost:9"])
        #expect(other.text.contains(#""url":"http://apple.localhost:9""#))
    }

    /// Generated clients choose a format by it.
    @Test func `it has the limits of members and parameters, and the formats`() async throws {
        let paths = try await document()["paths"]
        let faults = paths?["/emulator/faults/{endpoint}"]?["put"]
        let members = faults?["requestBody"]?["content"]?["application/json"]?["schema"]
        #expect(
            members?["properties"]?["delay_ms"] == ["type": "integer", "minimum": 0, "maximum": 60_000])
        #expect(members?["properties"]?["cut"]?["enum"] == ["before_work", "before_answer", "mid_body"])
        #expect(members?["additionalProperties"] == false)
        #expect(faults?["parameters"]?.array?[0]["schema"]?["enum"]?.array?.contains("token") == true)
        let tokens = paths?["/emulator/identity-tokens"]?["post"]
        #expect(tokens?["parameters"]?.array?[0]["schema"]?["enum"] == ["json", "text", "sign-in"])
        let made = tokens?["responses"]?["201"]?["content"]
        #expect(made?["text/plain"] != nil)
        let bodies = made?["application/json"]?["schema"]?["anyOf"]?.array?.map { $0["$ref"] }
        #expect(
            bodies == ["#/components/schemas/MintedIdentityToken", "#/components/schemas/SignInBody"])
        let user = try await document()["components"]?["schemas"]?["EmulatedUser"]
        #expect(user?["required"]?.array?.contains("sub") == true)
        #expect(user?["required"]?.array?.contains("email") == false)
        let users = paths?["/emulator/users"]?["get"]?["parameters"]?.array ?? []
        #expect(users.map { $0["name"] } == ["offset", "limit", "format"])
        let assertions = paths?["/emulator/app-attest/assertions"]?["post"]?["requestBody"]
        let schema = assertions?["content"]?["application/json"]?["schema"]
        #expect(schema?["required"] == ["key_id"])
        #expect(schema?["oneOf"]?.array?.count == 3)
    }

    /// Acts as a client in another language, which knows path, method and body from the document alone.
    @Test func `every example is accepted, and every response is as the document says`() async throws {
        var given = ["kid": try await apple.publishedKeyIDs()[0], "team": "TEAM000002", "sub": "default"]
        let document = try await document()
        let codes = document["components"]?["responses"]?["Problem"]?["content"]?[
            "application/problem+json"]?["schema"]?["properties"]?["code"]?["x-extensible-enum"]?.array
        let schemas = try #require(document["components"]?["schemas"])
        var (refused, differences): ([String], [String]) = ([], [])
        for (path, item) in document["paths"]?.object?.members ?? [] {
            for (method, operation) in item.object?.members ?? [] {
                var address = path
                for parameter in operation["parameters"]?.array ?? [] {
                    guard parameter["in"] == "path", let name = parameter["name"]?.string else { continue }
                    let value = given[name] ?? parameter["schema"]?["enum"]?.array?.first?.string
                    address = address.replacing("{\(name)}", with: try #require(value))
                }
                let content = operation["requestBody"]?["content"]?["application/json"]
                let example = content?["example"].map { String(decoding: $0.serialized(), as: UTF8.self) }
                let body = example?.replacing("KEY_ID", with: given["key_id"] ?? "KEY_ID")
                let response = try await apple.send(
                    HTTPMethod(rawValue: method.uppercased()), address, body: body)
                let status = operation["responses"]?.object?.members.first?.name
                if String(response.status) != status {
                    refused.append("\(method) \(path)")
                    #expect(codes?.contains(.string(response.code ?? "none")) == true)
                    continue
                }
                let shown = operation["responses"]?[response.status.description]?["content"]
                differences += Self.differences(
                    of: try response.json, from: shown?["application/json"]?["schema"], schemas,
                    at: "\(method) \(path)")
                // Later calls use the keys of earlier calls.
                for name in ["kid", "key_id"] {
                    if let made = try response.json[name]?.string { given[name] = made }
                }
            }
        }
        // There is no URL that receives notifications.
        #expect(refused == ["post /emulator/deliveries"])
        #expect(differences == [])
    }

    /// Compares a response with its schema. A member without a schema is a difference too.
    private static func differences(
        of value: JSONValue, from schema: JSONValue?, _ schemas: JSONValue, at place: String
    ) -> [String] {
        if let name = schema?["$ref"]?.string?.split(separator: "/").last {
            return differences(of: value, from: schemas[String(name)], schemas, at: place)
        }
        // A detail of a reference, and the formats of a call, of which the first is the default.
        if let part = (schema?["allOf"] ?? schema?["anyOf"])?.array?.first {
            return differences(of: value, from: part, schemas, at: place)
        }
        switch (schema?["type"], value) {
        case ("object", .object(let object)):
            guard let properties = schema?["properties"] else { return [] }
            let required = schema?["required"]?.array?.compactMap(\.string) ?? []
            return required.filter { object[$0] == nil }.map { "\(place) \($0) is missing" }
                + object.members.flatMap {
                    differences(of: $0.value, from: properties[$0.name], schemas, at: "\(place) \($0.name)")
                }
        case ("array", .array(let elements)):
            return elements.flatMap { differences(of: $0, from: schema?["items"], schemas, at: place) }
        case ("string", .string), ("integer", .integer), ("boolean", .bool): return []
        default: return ["\(place): \(schema?["type"]?.string ?? "no schema")"]
        }
    }

    @Test func `it has the code of every error with which the emulator refuses a control request`()
        async throws
    {
        let text = try await apple.get("/emulator/openapi.json").text
        let others = [
            "configuration_invalid", "state_file_damaged", "state_file_unwritable", "page_outdated",
        ]
        for code in try FakeSource.errorCodes(in: "EmulatorServer/EmulatorError.swift") {
            #expect(text.contains("\"\(code)\"") != others.contains(code), "\(code)")
        }
        for code in try FakeSource.errorCodes(in: "AppleEmulator/EmulatorError+Codes.swift") {
            #expect(text.contains("\"\(code)\""), "\(code)")
        }
    }

    @Test func `a page shows each call with its limits and a command, and the accounts lead to it`()
        async throws
    {
        #expect(try await apple.get("/").text.contains("href=\"/emulator/api\""))
        let page = try await apple.get("/emulator/api").text
        for words in [
            "<code>PUT /emulator/faults/{endpoint}</code>", "an integer, 0 to 60000",
            "a string of at most 2048 bytes; required",
            "curl -sS -X PUT http://127.0.0.1:\(apple.port)/emulator/faults/keys "
                + "-d &#39;{&quot;status&quot;:503,&quot;times&quot;:3}&#39;",
            "/emulator/users/default/revoke-consent", "href=\"openapi.json\"",
            "MintedIdentityToken, or SignInBody", "an array of: TeamIdentity. One for each team.",
        ] { #expect(page.contains(words), "\(words)") }
    }

    @Test func `a misspelled name is refused before the absent member`() async throws {
        for (path, body, code) in [
            ("notification-url", #"{"ulr":"http://127.0.0.1/"}"#, "member_unknown"),
            ("notification-url", "{}", "member_malformed"),
            ("redirect-uris", #"{"redirect_uri":[]}"#, "member_unknown"),
            ("users/default/migration", #"{"fails":null}"#, "member_malformed"),
        ] {
            let response = try await apple.send(.PUT, "/emulator/\(path)", body: body)
            #expect(response.code == code, "\(path) \(body)")
        }
        let both = #"{"challenge":"c","client_data":"AA=="}"#
        for body in ["{}", both] {
            #expect(try await apple.post("/emulator/app-attest/keys", body).code == "member_malformed")
        }
    }
}
