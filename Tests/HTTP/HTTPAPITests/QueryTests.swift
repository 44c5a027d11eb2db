import Testing

@testable import HTTPAPI

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
