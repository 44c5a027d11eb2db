import HTTPAPI
import StrictJSON
import Testing

/// Responses of each call to bad input: always a problem, never a 5xx.
@Suite struct ProblemContractTests {
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

    static let malformed: [Case] = [
        Case(method: "POST", target: verify, body: "", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "{", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "[]", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "null", status: 400, code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: "{\"identity_token\":\"a\",}", status: 400,
            code: "body_not_json"),
        Case(method: "POST", target: verify, body: "{} {}", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "\u{FEFF}{}", status: 400, code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","identity_token":"b"}"#,
            status: 400,
            code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: "{}", status: 400, code: "member_missing",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":1}"#, status: 400,
            code: "member_malformed",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":null}"#, status: 400,
            code: "member_missing",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":""}"#, status: 400,
            code: "member_malformed",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","nonse":"b"}"#, status: 400,
            code: "member_unknown", subject: "nonse"),
        // A misspelled member is named before what is wrong because of it, and before other mistakes.
        Case(
            method: "POST", target: verify, body: #"{"identity_tokn":"a"}"#, status: 400,
            code: "member_unknown", subject: "identity_tokn"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":5,"nonse":"b"}"#, status: 400,
            code: "member_unknown", subject: "nonse"),
        // The whole body is checked before a member of it.
        Case(
            method: "POST", target: verify, body: #"{"identity_token":5,"nonce":"b\u0000"}"#, status: 400,
            code: "character_not_allowed"),
        // What does not look like a member's name is not repeated: it can be a token in the wrong place.
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","e30.e30.e30":"b"}"#, status: 400,
            code: "member_unknown"),
        Case(
            method: "POST", target: verify,
            body: #"{"identity_token":"a","\#(String(repeating: "x", count: 33))":"b"}"#, status: 400,
            code: "member_unknown"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","create":"yes"}"#,
            status: 400,
            code: "member_malformed", subject: "create"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","user":"Ada"}"#,
            status: 400,
            code: "member_malformed", subject: "user"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","user":{"name":7}}"#,
            status: 400,
            code: "member_malformed", subject: "user"),
        Case(
            method: "POST", target: query, body: #"{"subs":["a"]}"#, status: 400, code: "member_missing",
            subject: "client_id"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app"}"#, status: 400,
            code: "member_missing", subject: "subs"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app","subs":[]}"#, status: 400,
            code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app","subs":["a",1]}"#,
            status: 400,
            code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: query,
            body: #"{"client_id":"c","subs":["#
                + Array(repeating: "\"a\"", count: 1001).joined(separator: ",") + "]}",
            status: 400, code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: "/v1/apple/notifications", body: "{}", status: 400,
            code: "member_missing",
            subject: "payload"),
    ]

    static let parameters: [Case] = [
        Case(
            method: "GET", target: "/v1/credentials/s", status: 400, code: "parameter_missing",
            subject: "client_id"),
        Case(
            method: "GET", target: "/v1/accounts?sub=nobody", status: 400,
            code: "parameter_missing",
            subject: "client_id"),
        Case(
            method: "GET", target: "/v1/accounts?client_id=com.example.app&sub=nobody&linked=true",
            status: 400, code: "parameter_unknown", subject: "linked"),
        Case(
            method: "GET", target: "/v1/accounts?state=maybe", status: 400, code: "parameter_malformed",
            subject: "state"),
        Case(
            method: "GET", target: "/v1/accounts?disabled=yes", status: 400, code: "parameter_malformed",
            subject: "disabled"),
        Case(
            method: "GET", target: "/v1/accounts?created_after=yesterday", status: 400,
            code: "parameter_malformed", subject: "created_after"),
        Case(
            method: "GET", target: "/v1/accounts?email=a@b.c&name=Ada", status: 400,
            code: "parameter_malformed", subject: "name"),
        Case(
            method: "GET", target: "/v1/accounts?after=r01", status: 400, code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/accounts?after=r1", status: 400, code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/accounts?limit=101", status: 400, code: "parameter_malformed",
            subject: "limit"),
        Case(
            method: "GET", target: "/v1/accounts?client_id=com.example.none", status: 404,
            code: "client_id_unknown"),
        Case(
            method: "GET", target: "/v1/accounts/acc_00000000-0000-7000-8000-000000000000/events",
            status: 404,
            code: "account_not_found"),
        Case(
            method: "GET", target: "/v1/events?afer=1", status: 400, code: "parameter_unknown",
            subject: "afer"),
        Case(method: "GET", target: "/v1/events?a%66er=1", status: 400, code: "parameter_unknown"),
        Case(
            method: "GET", target: "/v1/events?after=1&after=2", status: 400, code: "parameter_unknown",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?after=-1", status: 400, code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?after=99999999999999999999", status: 400,
            code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?limit=0", status: 400, code: "parameter_malformed",
            subject: "limit"),
        Case(
            method: "GET", target: "/v1/events?wait=31", status: 400, code: "parameter_malformed",
            subject: "wait"),
        Case(
            method: "GET", target: "/v1/events?wait=1e1", status: 400, code: "parameter_malformed",
            subject: "wait"),
        Case(
            method: "GET", target: "/v1/events?limit=", status: 400, code: "parameter_malformed",
            subject: "limit"),
        Case(
            method: "GET", target: "/v1/credentials/%zz?client_id=com.example.app", status: 400,
            code: "parameter_malformed"),
        Case(
            method: "GET", target: "/v1/credentials/%00?client_id=com.example.app", status: 400,
            code: "character_not_allowed"),
        Case(
            method: "GET", target: "/v1/credentials/s?client_id=a%00", status: 400,
            code: "character_not_allowed", subject: "client_id"),
        Case(
            method: "GET", target: "/v1/credentials/%ff?client_id=com.example.app", status: 400,
            code: "parameter_malformed"),
        Case(
            method: "GET", target: "/v1/credentials/s?client_id=com.example.none", status: 404,
            code: "client_id_unknown"),
        Case(
            method: "GET", target: "/v1/accounts?client_id=com.example.app&sub=nobody", status: 404,
            code: "account_not_found"),
        Case(method: "GET", target: "/v1/accounts/acc_nonsense", status: 404, code: "account_not_found"),
        Case(
            method: "GET", target: "/v1/accounts/acc_01970000-0000-7000-8000-000000000000", status: 404,
            code: "account_not_found"),
    ]

    static let targets: [Case] = [
        Case(method: "GET", target: "/", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/credentials/", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/credentials/a/b?client_id=x", status: 404, code: "not_found"),
        Case(method: "POST", target: "/V1/sign-ins", body: "{}", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/sign-ins", status: 405, code: "method_not_allowed"),
        Case(method: "DELETE", target: "/v1/accounts/acc_x", status: 404, code: "account_not_found"),
        Case(method: "DELETE", target: "/v1/accounts/", status: 404, code: "not_found"),
        Case(method: "DELETE", target: "/v1/accounts", status: 405, code: "method_not_allowed"),
        Case(
            method: "DELETE", target: "/v1/accounts/acc_x?force=1", status: 400, code: "parameter_unknown",
            subject: "force"),
        Case(method: "DELETE", target: "/v1/accounts/%ff", status: 400, code: "parameter_malformed"),
        Case(method: "GET", target: "/v1/erasures/era_x", status: 404, code: "erasure_not_found"),
        Case(method: "GET", target: "/v1/erasures/", status: 404, code: "not_found"),
        Case(
            method: "GET", target: "/v1/erasures/era_01970000-0000-7000-8000-000000000000", status: 404,
            code: "erasure_not_found"),
        Case(method: "DELETE", target: "/v1/erasures/era_x", status: 405, code: "method_not_allowed"),
        Case(
            method: "GET", target: "/v1/erasures/era_x?wait=1", status: 400, code: "parameter_unknown",
            subject: "wait"),
        Case(method: "PUT", target: verify, body: "{}", status: 405, code: "method_not_allowed"),
        Case(method: "OPTIONS", target: "/livez", status: 405, code: "method_not_allowed"),
        Case(
            method: "POST", target: verify, body: "{}", fields: ["Content-Type": "text/plain"], status: 415,
            code: "content_type_unsupported"),
        Case(
            method: "POST", target: verify, body: "a=b",
            fields: ["Content-Type": "application/x-www-form-urlencoded"], status: 415,
            code: "content_type_unsupported"),
    ]

    @Test(arguments: malformed + parameters + targets)
    func `bad input gets its status and code`(test: Case) async throws {
        try await RunningService.with { service in
            let response = try await service.call(
                test.method, test.target, body: test.body, fields: test.fields)
            #expect(response.status == test.status)
            #expect(response.code == test.code)
            #expect(response["content-type"] == "application/problem+json")
            let problem = response.json
            #expect(problem?["type"]?.string == "urn:siwa:problem:\(test.code)")
            #expect(problem?["status"]?.integer == Int64(test.status))
            #expect(problem?["title"]?.string?.isEmpty == false)
            #expect(problem?["detail"]?.string?.isEmpty == false)
            #expect(problem?["request_id"]?.string == response["x-request-id"])
            let subject = problem?["member"] ?? problem?["parameter"]
            #expect(subject?.string == test.subject)
        }
    }

    @Test func `a wrong method is told the right ones`() async throws {
        try await RunningService.with { service in
            let signIns = try await service.call("GET", "/v1/sign-ins")
            #expect(signIns["allow"] == "POST")
            let events = try await service.call("POST", "/v1/events", body: "{}")
            #expect(events["allow"] == "GET, HEAD")
            let account = try await service.call("PUT", "/v1/accounts/acc_x", body: "{}")
            #expect(account["allow"] == "GET, HEAD, DELETE")
            let erasure = try await service.call("DELETE", "/v1/erasures/era_x")
            #expect(erasure["allow"] == "GET, HEAD")
        }
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
    func `a content type with another case or a parameter is JSON`(type: String) async throws {
        try await RunningService.with { service in
            let response = try await service.call(
                "POST", Self.verify, body: try Bodies.identityToken(), fields: ["Content-Type": type])
            #expect(response.status == 200)
        }
    }

    struct Mishap: Error {}
}
