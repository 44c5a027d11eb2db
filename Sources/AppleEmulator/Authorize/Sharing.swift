/// The choices of a user on the page when they authorize an app for the first time. `nil` means no change.
struct Sharing: Equatable {
    struct Name: Equatable {
        let first: String?
        let last: String?
    }

    var name: Name?
    var hidesEmail: Bool?
}
