import EmulatorServer

/// The search field above a list of users, and the links to other pages below the list, as forms without
/// scripts.
struct UserPageControls {
    private let method: String
    private let action: String
    private let hidden: [PageField]
    private let find: String
    /// False while all users fit on one page.
    private let hasSearch: Bool
    private let isEmpty: Bool
    private let hasPager: Bool
    /// The search, which the other pages keep.
    private let findAgain: String?
    private let newer: Int?
    private let older: Int?
    private let range: String

    /// - Parameters:
    ///   - method: `get` or `post`.
    ///   - hidden: Hidden fields of the forms.
    init(page: UserPage, method: String, action: String, hidden: [PageField] = []) {
        (self.method, self.action, self.hidden) = (method, action, hidden)
        (find, findAgain) = (page.search, page.search.isEmpty ? nil : page.search)
        (hasSearch, isEmpty) = (page.found > UserPage.size || !page.search.isEmpty, page.found == 0)
        (newer, older) = (page.newer, page.older)
        hasPager = page.newer != nil || page.older != nil
        range = "\(page.offset + 1) to \(page.offset + page.users.count) of \(page.found)"
    }
}
