import StrictJSON
import Testing

@Suite struct JSONWriterTests {
    @Test func `writes members, arrays and nesting`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", "x")
        writer.member("b", ifPresent: nil as String?)
        writer.member("c", Int64.min)
        writer.name("d")
        writer.beginArray()
        writer.element()
        writer.value(true)
        writer.element()
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.member("e", 0)
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":"x","c":-9223372036854775808,"d":[true,{}],"e":0}"#)
    }

    @Test(arguments: [
        "", "plain", "\"\\/\u{8}\u{9}\u{A}\u{C}\u{D}", "\u{1}\u{1F}\u{7F}é😀", "\u{2028}</script>",
    ])
    func `reads back every string that it writes`(text: String) throws {
        let value = JSONValue.array([.string(text), .object(JSONObject([(text, .integer(1))]))])
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }
}
