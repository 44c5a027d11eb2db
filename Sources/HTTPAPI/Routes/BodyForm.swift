/// How the body of a call is written.
enum BodyForm: Sendable {
    case none
    case json
    /// `application/x-www-form-urlencoded`, as browsers post a page's form.
    case form
}
