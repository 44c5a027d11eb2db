/// What a person decides on the page when they authorize an app for the first time. What is `nil` stays as it was.
struct Sharing: Equatable {
    struct Name: Equatable {
        let first: String?
        let last: String?
    }

    var name: Name?
    var hidesEmail: Bool?
}
