import Testing

@testable import AuthorizationServer

@Suite struct UserCodeTests {
    @Test(arguments: [
        "BCDFGHJK", "BCDF-GHJK", "bcdf-ghjk", " bcdf ghjk ", "b-c-d-f-g-h-j-k", "BCDF\u{2013}GHJK",
        "BCDF\u{2011}GHJK", "BCDF\u{A0}GHJK",
    ])
    func `reads a code without regard to case, dashes and spaces`(entry: String) {
        #expect(UserCode(entered: entry)?.text == "BCDFGHJK")
        #expect(UserCode(entered: entry)?.shown == "BCDF-GHJK")
    }

    @Test(arguments: [
        "", "-", "BCDFGHJ", "BCDFGHJKL", "ABCDFGHJ", "BCDFGHJY", "BCDFGHJ0", "BCDFGHJ\u{212A}",
        "\u{FF22}CDFGHJK", "BCDF_GHJK", "BCDF\u{0}GHJK", "BCDFGHJK'",
        String(repeating: "-", count: 57) + "BCDFGHJK",
    ])
    func `refuses a text that no device shows`(entry: String) {
        #expect(UserCode(entered: entry) == nil)
    }

    @Test func `takes each letter with the same probability, and no random byte that would prefer some`() {
        // 240 to 255 would prefer the first sixteen letters.
        let mixed = UserCode(random: { Array(repeating: 255, count: $0 - 8) + Array(232..<240) })
        #expect(mixed.text == UserCode(random: { _ in Array(232..<240) }).text)
        var number: UInt8 = 0
        var counts: [Character: Int] = [:]
        for _ in 0..<600 {
            let code = UserCode(random: { count in
                (0..<count).map { _ in
                    number &+= 1
                    return number
                }
            })
            for letter in code.text { counts[letter, default: 0] += 1 }
        }
        #expect(counts.count == 20)
        #expect(counts.values.allSatisfy { (200...280).contains($0) })
    }

    @Test func `no description shows a code`() {
        let code = UserCode(random: { Array(repeating: 1, count: $0) })
        let device = DeviceCodeText(random: Array(repeating: 1, count: 32))
        for text in ["\(code)", String(reflecting: code), "\(device)", String(reflecting: device)] {
            #expect(!text.contains(code.text) && !text.contains(device.text))
        }
    }

    @Test(arguments: ["", "siwa_dc_", "siwa_ac_" + String(repeating: "A", count: 43), "x"])
    func `reads no device code that was not made here`(text: String) {
        #expect(DeviceCodeText(parsing: text) == nil)
    }

    @Test func `keeps the visible characters of the origin only, within its bounds`() {
        let origin = DeviceAuthorization.Origin(
            address: "203.0.113.7",
            userAgent: "TV/1\u{1B}[31m\u{202E}\r\nX: y" + String(repeating: "z", count: 500))
        #expect(origin.userAgent?.hasPrefix("TV/1[31mX: yzzz") == true)
        #expect(origin.userAgent?.count == DeviceAuthorization.Origin.longestUserAgent)
        #expect(DeviceAuthorization.Origin(address: nil, userAgent: "\u{0}").userAgent == nil)
    }
}
