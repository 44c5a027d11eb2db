import Testing

@testable import AuthorizationServer

@Suite struct FormParametersTests {
    private func parsed(_ text: String) throws -> FormParameters {
        try FormParameters(parsing: text.utf8, as: .query)
    }

    @Test(
        arguments: [
            ("b=2&a=1", "a=1&b=2"), ("a=2&a=1", "a=1&a=2"), ("a=x+y%2F~-._%C3%BC", "a=x%20y%2F~-._%C3%BC"),
            ("a=&b&=c", "=c&a=&b="), ("a=1&attestation_assertion=x&ab=2", "a=1&ab=2"), ("", ""),
            ("a=%2", nil), ("a=%FF", nil),
        ] as [(String, String?)])
    func `writes the parameters in the form that a proof vouches for`(form: String, text: String?) throws {
        let parameters = try FormParameters(parsing: Array(form.utf8), as: .form)
        #expect(parameters.canonicalText(without: [.attestationAssertion]) == text)
    }

    @Test(
        arguments: [
            ("a=b", .text("b")), ("x=1&a=b%20c+d", .text("b c d")), ("a=%C3%A9", .text("\u{E9}")),
            ("%61=b", .text("b")), ("a=b=c", .text("b=c")), ("&&a=b&", .text("b")),
            ("a=\"'<>", .text("\"'<>")),
            ("", .absent), ("A=b", .absent), ("a", .absent), ("a=", .absent), ("aa=b", .absent),
            ("=b", .absent),
            ("a=b&a=b", .repeated), ("a=&a=b", .repeated), ("a=1&%61=2", .repeated), ("a&a", .repeated),
            ("a=%", .malformed), ("a=%4", .malformed), ("a=%zz", .malformed), ("a=%FF", .malformed),
            ("a=%C3", .malformed), ("a=%00", .malformed), ("a=b\u{E9}", .malformed), ("a=b c", .text("b c")),
            ("a=b\r\nc", .malformed), ("a=%ED%A0%80", .malformed), ("a=%C0%AF", .malformed),
        ] as [(String, FormParameters.Value)])
    func `reads one parameter`(text: String, value: FormParameters.Value) throws {
        #expect(try parsed(text)["a"] == value)
    }

    @Test func `leaves a broken parameter that is not asked for alone`() throws {
        #expect(try parsed("%zz=1&b=%zz&c=1&c=2&a=b")["a"] == .text("b"))
    }

    @Test func `keeps the bytes of a value`() throws {
        #expect(try parsed("a=%c3%A9+%2B~").rawValues(of: "a").map(Array.init) == [Array("%c3%A9+%2B~".utf8)])
    }

    @Test func `has a bound on parameters`() throws {
        let most = String(repeating: "x=1&", count: FormParameters.mostParameters - 1) + "a=b"
        #expect(try parsed(most)["a"] == .text("b"))
        #expect(throws: FormParameters.TooMany()) { try parsed(most + "&x=1") }
    }

    @Test func `has a bound on bytes`() throws {
        let most = "a=" + String(repeating: "b", count: FormParameters.mostBytes - 2)
        #expect(try parsed(most)["x"] == .absent)
        #expect(throws: FormParameters.TooMany()) { try parsed(most + "b") }
        #expect(throws: FormParameters.TooMany()) { try parsed(String(repeating: "&", count: 16_385)) }
    }

    @Test func `reads no more of a value than is asked for`() throws {
        let form = try parsed("a=" + String(repeating: "%C3%A9", count: 1000) + "%zz")
        #expect(form.value(of: "a", upTo: 4) == .text("\u{E9}\u{E9}"))
        // In the middle of a character: all that is known is that it is longer.
        guard case .text(let text) = form.value(of: "a", upTo: 5) else {
            Issue.record("not a text")
            return
        }
        #expect(text.utf8.count >= 5)
        #expect(form["a"] == .malformed)
    }

    /// With unbounded names, comparing each name with all others would cost more than the request.
    @Test func `looks at no name that is longer than those it knows`() throws {
        let name = String(repeating: "n", count: 200)
        #expect(try parsed("\(name)=1&\(name)=1&a=b&%61=c").repeatedNames == ["a"])
        #expect(try parsed("\(name)=1&a=b")[name] == .absent)
        let escaped = "token_type_hint".utf8.map { "%" + String($0, radix: 16) }.joined()
        #expect(try parsed("\(escaped)=b")["token_type_hint"] == .text("b"))
    }

    @Test(arguments: RequestParameter.allCases)
    func `has a bound on every parameter`(parameter: RequestParameter) throws {
        let longest = parameter.longest
        #expect(longest < FormParameters.mostBytes)
        for (count, isAccepted) in [(longest, true), (longest + 1, false)] {
            let text = "\(parameter.rawValue)=" + String(repeating: "a", count: count)
            let reader = ParameterReader(try parsed(text))
            #expect(
                (try? reader.text(parameter)) ?? nil
                    == (isAccepted ? String(repeating: "a", count: count) : nil))
            if !isAccepted {
                #expect(throws: OAuthError(.invalidRequest, "")) { try reader.text(parameter) }
            }
        }
    }
}
