import NIOHTTP1
import Testing

@testable import HTTPAPI

@Suite struct FormTests {
    @Test func `a form is read as a browser writes it`() throws {
        let form = try Form(
            parsing: Array(
                "state=a%2Bb&user=%7B%22n%22%3A1%7D&note=two+words&raw=two words&empty=&x=%C3%A9".utf8))
        #expect(form["state"] == "a+b")
        #expect(form["user"] == #"{"n":1}"#)
        #expect(form["note"] == "two words")
        // No browser writes one, but some clients do.
        #expect(form["raw"] == "two words")
        #expect(form["empty"] == nil)
        #expect(form["x"] == "é")
        #expect(form["absent"] == nil)
    }

    @Test(arguments: [
        "", "&", "a", "a&b=1", "a=1&", "&a=1", "a=1&&b=2", "=1", "a=1=2", "a=1&a=2", "a=1&%61=2", "a=%",
        "a=%4", "a=%zz", "a=%ff", "a=%C3", "a=1\t", "a=é", "a=1\r\nb=2", "{\"a\":1}", "a=1;b=2=",
        (0...16).map { "f\($0)=1" }.joined(separator: "&"),
    ])
    func `what a browser would not write is refused`(text: String) {
        #expect(throws: Problem(.formMalformed)) { try Form(parsing: Array(text.utf8)) }
    }

    @Test(arguments: ["a=%00", "a=\u{0}", "%00=1"])
    func `a zero byte is refused as such`(text: String) {
        #expect(throws: Problem(.characterNotAllowed)) { try Form(parsing: Array(text.utf8)) }
    }

    @Test(arguments: ["+", "%", "%2B", "&", "=", "a", "\u{0}"])
    func `a form past its bound is refused for its length, whatever it has in it`(text: String) {
        let body = Array(String(repeating: text, count: 16_385).utf8.prefix(16_385))
        #expect(throws: Problem(.bodyTooLarge)) { try Form(parsing: body) }
        #expect(throws: Problem(.bodyTooLarge)) { try Form(parsing: Array("a=b".utf8), mostBytes: 2) }
    }

    @Test func `a form is read up to its bound`() throws {
        let value = String(repeating: "+", count: Form.mostBytes - 2)
        #expect(try Form(parsing: Array("a=\(value)".utf8))["a"]?.utf8.count == value.utf8.count)
    }

    @Test func `bytes that are no text are refused`() {
        #expect(throws: Problem(.formMalformed)) { try Form(parsing: [0x61, 0x3D, 0xFF]) }
    }
}

@Suite struct QueryTests {
    @Test(arguments: [
        ("a=1", "1"), ("a=1&", "1"), ("&&a=1", "1"), ("a=%31", "1"), ("a=1=2", "1=2"), ("b=2&a=x", "x"),
    ])
    func `a query has its parameters in any order`(text: String, value: String) throws {
        #expect(try Query(parsing: text[...], allowing: ["a", "b"]).required("a") == value)
    }

    @Test(arguments: [
        ("a", ProblemCode.parameterMalformed), ("a=", .parameterMalformed), ("a=%", .parameterMalformed),
        ("A=1", .parameterUnknown), ("=1", .parameterUnknown), ("a=1&a=1", .parameterUnknown),
        ("\u{212A}=1", .parameterUnknown), ("aa=1", .parameterUnknown), ("", .parameterMissing),
        ("&", .parameterMissing),
    ])
    func `a query with anything else is refused`(text: String, code: ProblemCode) throws {
        let problem = try #require(throws: Problem.self) {
            try Query(parsing: text[...], allowing: ["a", "K"]).required("a")
        }
        #expect(problem.code == code.rawValue)
    }
}

@Suite struct RouteTableTests {
    static let methods: [RouteMethod: HTTPMethod] = [.get: .GET, .post: .POST, .delete: .DELETE]

    @Test func `every route is found under its template, and under no other name`() throws {
        for endpoint in Endpoint.all {
            let path = ["{id}", "{sub}", "{grant_id}", "{client_id}", "{key_id}", "{name}"].reduce(
                endpoint.path.description
            ) { $0.replacing($1, with: "x") }
            let method = Self.methods[endpoint.method] ?? .TRACE
            let match = try RouteTable.all.match(method, path[...])
            #expect(match.endpoint === endpoint)
            #expect((match.parameter == "x") == endpoint.path.description.contains("{"))
            #expect((match.secondParameter == "x") == endpoint.path.description.contains("{grant_id}"))
            for wrong in [path + "/", path.dropLast() + "", path.uppercased(), "/" + path, path + "/x/y"] {
                #expect((try? RouteTable.all.match(method, wrong[...]))?.endpoint !== endpoint)
            }
        }
    }
}
