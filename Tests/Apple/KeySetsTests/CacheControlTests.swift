import KeySets
import Testing

@Suite struct CacheControlTests {
    @Test(arguments: [
        nil, "", "public", "must-revalidate, private", "s-maxage=9, x-max-age=9", "maxage=9", "max-age =60",
        ",,",
    ])
    func `is absent when the field has no freshness`(field: String?) {
        #expect(CacheControl(field, age: nil) == .absent)
    }

    @Test(arguments: [
        "no-store", "no-cache", "NO-STORE", "no-cache, max-age=600", "max-age=600, no-store",
        #"max-age=600, no-cache="set-cookie""#, "no-cache, no-store, max-age=0, must-revalidate", "max-age=0",
        "max-age=-1", "max-age=", "max-age", "max-age=1.5", "max-age=1e3", "max-age= 60",
        "max-age=+60", "max-age=60s", "max-age=0x10", "max-age=9223372036854775808", #"max-age="60"#,
        "max-age=99999999999999999999999999999999999999", "max-age=\u{0661}\u{0662}", "max-age=\u{FF16}",
    ])
    func `is unusable when caching is forbidden or the directives are malformed`(field: String) {
        #expect(CacheControl(field, age: nil) == .unusable)
    }

    @Test(arguments: [
        ("max-age=600", 600), ("MAX-AGE=600", 600), (" public ,\tmax-age=600 , immutable", 600),
        (#"max-age="600""#, 600), ("max-age=600,max-age=1", 600),
        (#"private="x, no-store", max-age=600"#, 600),
        (#"private="x\", no-store", max-age=600"#, 600), ("max-age=00600", 600),
    ])
    func `is fresh for the seconds of max-age`(field: String, seconds: Int64) {
        #expect(CacheControl(field, age: nil) == .fresh(milliseconds: seconds * 1000))
    }

    @Test(arguments: [
        ("0", 600), ("100", 500), ("600", 0), ("601", 0), ("99999999999999999999999999", 0),
        ("-1", 600), ("", 600), ("a while", 600), ("1 ", 600),
    ])
    func `subtracts the age of the response`(age: String, seconds: Int64) {
        #expect(CacheControl("max-age=600", age: age) == .fresh(milliseconds: seconds * 1000))
    }

    @Test func `saturates at the largest number`() {
        #expect(CacheControl("max-age=9223372036854775807", age: nil) == .fresh(milliseconds: .max))
        #expect(
            CacheControl("max-age=9223372036854775807", age: "9223372036854775807")
                == .fresh(milliseconds: 0))
    }

    @Test func `does not parse a field that is too long`() {
        let field = "max-age=600" + String(repeating: ", x", count: 2000)
        #expect(CacheControl(field, age: nil) == .unusable)
    }
}
