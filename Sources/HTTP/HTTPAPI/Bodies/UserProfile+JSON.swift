import SignIn
import StrictJSON

extension UserProfile {
    /// Reads the member `user`: Apple's object, or its JSON text as Apple's form delivers it to a web page.
    ///
    /// Returns `nil` for an empty text. Throws `member_malformed`, or `character_not_allowed` for a text with
    /// U+0000.
    init?(posted value: JSONValue) throws(Problem) {
        do throws(Fault) {
            switch value {
            case .object(let object): self = try UserProfile(object)
            case .string(let text) where text.isEmpty: return nil
            case .string(let text): self = try UserProfile(parsing: text)
            case .null, .bool, .integer, .number, .array: throw .malformed
            }
        } catch {
            switch error {
            case .malformed: throw Problem(.memberMalformed, subject: .member("user"))
            case .characterNotAllowed: throw Problem(.characterNotAllowed, subject: .member("user"))
            }
        }
    }

    /// Reads the `user` field of Apple's form. Apple sends it once and does not sign it, and the browser of the
    /// user posts it: its address is ignored, because only Apple's token names one. A malformed field is dropped,
    /// because the sign-in is valid without it. Returns `nil` for an empty field.
    init?(unsigned text: String) {
        guard !text.isEmpty else { return nil }
        self = (try? UserProfile(parsing: text)) ?? .unreadable
        email = nil
    }
}
