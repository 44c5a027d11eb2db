public import AuthorizationServer

/// The parts of all pages for users. A deployment translates each of them.
public enum PageTexts {
    public static let parts: [any TranslatedTexts.Type] = [
        AuthorizeTexts.self, ConnectionsTexts.self, DeviceTexts.self, LogoutTexts.self, ScopeTexts.self,
        AppFlipTexts.self,
    ]
}
