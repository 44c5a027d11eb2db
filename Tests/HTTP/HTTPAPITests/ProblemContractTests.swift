import HTTPAPI
import StrictJSON
import Testing

/// Responses of each call to bad input: always a problem, never a 5xx.
@Suite(.service()) struct ProblemContractTests {
    let service = RunningService.current

    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let target: String
        var body: String?
        var fields: [String: String] = [:]
        let status: Int
        let code: String
        var subject: String?

        var testDescription: String { "\(method) \(target) \(body ?? "") -> \(code)" }
    }

    static let verify = "/v1/identity-tokens/verify"
    static let query = "/v1/credentials/query"

    /// Bodies by path, code of the problem, and member that the problem names.
    private static let bodies: [(path: String, code: String, subject: String?, bodies: [String])] = [
        (
            verify, "body_not_json", nil,
            [
                "", "{", "[]", "null", #"{"identity_token":"a",}"#, "{} {}", "\u{FEFF}{}",
                #"{"identity_token":"a","identity_token":"b"}"#,
            ]
        ), (verify, "member_missing", "identity_token", ["{}", #"{"identity_token":null}"#]),
        (
            verify, "member_malformed", "identity_token",
            [#"{"identity_token":1}"#, #"{"identity_token":""}"#]
        ),
        // A misspelled member is named before what is wrong because of it, and before other mistakes.
        (verify, "member_unknown", "identity_tokn", [#"{"identity_tokn":"a"}"#]),
        (
            verify, "member_unknown", "nonse",
            [#"{"identity_token":"a","nonse":"b"}"#, #"{"identity_token":5,"nonse":"b"}"#]
        ),
        // The whole body is checked before a member of it.
        (verify, "character_not_allowed", nil, [#"{"identity_token":5,"nonce":"b\u0000"}"#]),
        // What does not look like a member's name is not repeated: it can be a token in the wrong place.
        (
            verify, "member_unknown", nil,
            [
                #"{"identity_token":"a","e30.e30.e30":"b"}"#,
                #"{"identity_token":"a","\#(String(repeating: "x", count: 33))":"b"}"#,
            ]
        ), ("/v1/sign-ins", "member_malformed", "create", [#"{"identity_token":"a","create":"yes"}"#]),
        (
            "/v1/sign-ins", "member_malformed", "user",
            [#"{"identity_token":"a","user":"Ada"}"#, #"{"identity_token":"a","user":{"name":7}}"#]
        ), (query, "member_missing", "client_id", [#"{"subs":["a"]}"#]),
        (query, "member_missing", "subs", [#"{"client_id":"com.example.app"}"#]),
        (
            query, "member_malformed", "subs",
            [
                #"{"client_id":"com.example.app","subs":[]}"#,
                #"{"client_id":"com.example.app","subs":["a",1]}"#,
                #"{"client_id":"c","subs":[\#(Array(repeating: #""a""#, count: 1001).joined(separator: ","))]}"#,
            ]
        ), ("/v1/apple/notifications", "member_missing", "payload", ["{}"]),
    ]

    static let malformed = bodies.flatMap { path, code, subject, bodies in
        bodies.map { Case(method: "POST", target: path, body: $0, status: 400, code: code, subject: subject) }
    }

    /// Paths behind `/v1` by status, code, and parameter that the problem names.
    private static let paths: [(status: Int, code: String, subject: String?, paths: [String])] = [
        (400, "parameter_missing", "client_id", ["/credentials/s", "/accounts?sub=nobody"]),
        (400, "parameter_unknown", "linked", ["/accounts?client_id=com.example.app&sub=nobody&linked=true"]),
        (400, "parameter_unknown", "afer", ["/events?afer=1"]),
        (400, "parameter_unknown", nil, ["/events?a%66er=1"]),
        (400, "parameter_unknown", "after", ["/events?after=1&after=2"]),
        (400, "parameter_malformed", "state", ["/accounts?state=maybe"]),
        (400, "parameter_malformed", "disabled", ["/accounts?disabled=yes"]),
        (400, "parameter_malformed", "created_after", ["/accounts?created_after=yesterday"]),
        (400, "parameter_malformed", "name", ["/accounts?email=a@b.c&name=Ada"]),
        (
            400, "parameter_malformed", "after",
            [
                "/accounts?after=r01", "/accounts?after=r1", "/events?after=-1",
                "/events?after=99999999999999999999",
            ]
        ),
        (400, "parameter_malformed", "limit", ["/accounts?limit=101", "/events?limit=0", "/events?limit="]),
        (400, "parameter_malformed", "wait", ["/events?wait=31", "/events?wait=1e1"]),
        (
            400, "parameter_malformed", nil,
            ["/credentials/%zz?client_id=com.example.app", "/credentials/%ff?client_id=com.example.app"]
        ), (400, "character_not_allowed", nil, ["/credentials/%00?client_id=com.example.app"]),
        (400, "character_not_allowed", "client_id", ["/credentials/s?client_id=a%00"]),
        (
            404, "client_id_unknown", nil,
            ["/accounts?client_id=com.example.none", "/credentials/s?client_id=com.example.none"]
        ),
        (
            404, "account_not_found", nil,
            [
                "/accounts/acc_00000000-0000-7000-8000-000000000000/events", "/accounts/acc_nonsense",
                "/accounts?client_id=com.example.app&sub=nobody",
                "/accounts/acc_01970000-0000-7000-8000-000000000000",
            ]
        ),
    ]

    static let parameters = paths.flatMap { status, code, subject, paths in
        paths.map { Case(method: "GET", target: "/v1\($0)", status: status, code: code, subject: subject) }
    }

    /// Requests by status, code, and parameter that the problem names.
    private static let requests: [(status: Int, code: String, subject: String?, requests: [String])] = [
        (
            404, "not_found", nil,
            [
                "GET /", "GET /v1/credentials/", "GET /v1/credentials/a/b?client_id=x", "POST /V1/sign-ins",
                "DELETE /v1/accounts/", "GET /v1/erasures/",
            ]
        ),
        (
            405, "method_not_allowed", nil,
            [
                "GET /v1/sign-ins", "DELETE /v1/accounts", "DELETE /v1/erasures/era_x", "PUT \(verify)",
                "OPTIONS /livez",
            ]
        ), (404, "account_not_found", nil, ["DELETE /v1/accounts/acc_x"]),
        (400, "parameter_unknown", "force", ["DELETE /v1/accounts/acc_x?force=1"]),
        (400, "parameter_malformed", nil, ["DELETE /v1/accounts/%ff"]),
        (
            404, "erasure_not_found", nil,
            ["GET /v1/erasures/era_x", "GET /v1/erasures/era_01970000-0000-7000-8000-000000000000"]
        ), (400, "parameter_unknown", "wait", ["GET /v1/erasures/era_x?wait=1"]),
    ]

    static let targets = requests.flatMap { status, code, subject, requests in
        requests.map { request in
            let words = request.split(separator: " ").map(String.init)
            let body = ["POST", "PUT"].contains(words[0]) ? "{}" : nil
            return Case(
                method: words[0], target: words[1], body: body, status: status, code: code, subject: subject)
        }
    }

    static let types = [("text/plain", "{}"), ("application/x-www-form-urlencoded", "a=b")].map {
        Case(
            method: "POST", target: verify, body: $0.1, fields: ["Content-Type": $0.0], status: 415,
            code: "content_type_unsupported")
    }

    @Test(arguments: malformed + parameters + targets + types)
    func `bad input gets its status and code`(test: Case) async throws {
        let response = try await service.call(
            test.method, test.target, body: test.body, fields: test.fields)
        #expect(response.outcome == "\(test.status) \(test.code)")
        #expect(response["content-type"] == "application/problem+json")
        let problem = response.json
        #expect(problem?["type"]?.string == "urn:siwa:problem:\(test.code)")
        #expect(problem?["status"]?.integer == Int64(test.status))
        #expect(problem?["title"]?.string?.isEmpty == false)
        #expect(problem?["detail"]?.string?.isEmpty == false)
        #expect(problem?["request_id"]?.string == response["x-request-id"])
        #expect(response["siwa-api-version"] == "1")
        let subject = problem?["member"] ?? problem?["parameter"]
        #expect(subject?.string == test.subject)
    }

    @Test(arguments: [
        ("GET", "/v1/sign-ins", "POST"), ("POST", "/v1/events", "GET, HEAD"),
        ("PUT", "/v1/accounts/acc_x", "GET, HEAD, DELETE"), ("DELETE", "/v1/erasures/era_x", "GET, HEAD"),
    ])
    func `a wrong method is told the right ones`(method: String, target: String, allowed: String) async throws
    {
        let body = method == "POST" || method == "PUT" ? "{}" : nil
        #expect(try await service.call(method, target, body: body)["allow"] == allowed)
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
    func `a content type with another case or a parameter is JSON`(type: String) async throws {
        let response = try await service.post(
            Self.verify, body: try Bodies.identityToken(), fields: ["Content-Type": type])
        #expect(response.status == 200)
    }
}
