import Testing

@testable import AuthorizationServer

@Suite struct FormParametersTests {
    private func parsed(_ text: String) throws -> FormParameters {
        try FormParameters(parsing: text.utf8, as: .query)
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
