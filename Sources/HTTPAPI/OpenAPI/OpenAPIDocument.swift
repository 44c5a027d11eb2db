import AppleAccounts
import AppleIdentity
import SignIn

/// This interface for machines (OpenAPI 3.1): what `GET /openapi.yaml` answers.
///
/// Written by hand, because a description made from the code would be wrong where the code is. Lists that grow by
/// themselves (codes, kinds, causes) are put in from their types, so that none can be forgotten.
enum OpenAPIDocument {
    static func text(version: String) -> String {
        head(version: version) + tokenPaths + accountPaths + otherPaths + components + schemas
    }

    /// Every code that a problem can have.
    static var codes: [String] {
        // A refusal of the rules can mean what one of HTTP's own problems means.
        let refusals = AccountRefusal.Code.allCases.map(\.rawValue)
            .filter { ProblemCode(rawValue: $0) == nil }
        return ProblemCode.allCases.map(\.rawValue) + AppleTokenError.Code.allCases.map(\.rawValue) + refusals
            + WebRefusal.Code.allCases.map(\.rawValue)
    }

    static func list(_ words: [String]) -> String { words.joined(separator: ", ") }

    private static func head(version: String) -> String {
        #"""
        openapi: 3.1.0
        info:
          title: siwa
          version: "\#(version)"
          summary: Sign in with Apple for backends.
          description: |
            Verifies Apple's identity tokens, keeps one stable account per person, knows whether Apple's credential is
            authorized, revoked or not found, and tells what changed.

            JSON in snake_case, times in RFC 3339 UTC. What is absent is absent: there are no nulls. Members and parameters
            that a call does not know are refused. Every error is an `application/problem+json` document with a stable `code`.
        servers:
          - url: /
        security:
          - apiKey: []
        tags:
          - name: tokens
          - name: accounts
          - name: credentials
          - name: events
          - name: web
            description: Sign in in a browser. Not found where the web relay is not configured.
          - name: apple
          - name: operations

        """#
    }
}
