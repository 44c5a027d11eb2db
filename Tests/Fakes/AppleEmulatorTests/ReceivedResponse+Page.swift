import TestSupport

extension ReceivedResponse {
    /// The accounts on the page, in its order.
    var choices: [String] {
        text.split(separator: "name=\"choose\" value=\"").dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }

    /// The value of a field in a page's form, unescaped.
    func field(_ name: String) -> String? {
        guard let start = text.firstRange(of: "name=\"\(name)\""),
            let tag = text[start.upperBound...].firstIndex(of: ">")
        else {
            return nil
        }
        let rest = text[start.upperBound..<tag]
        guard let value = rest.firstRange(of: "value=\""),
            let end = rest[value.upperBound...].firstIndex(of: "\"")
        else {
            return nil
        }
        return rest[value.upperBound..<end].htmlUnescaped
    }
}
