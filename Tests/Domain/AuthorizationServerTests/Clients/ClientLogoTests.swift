import AuthorizationServer
import Testing

@Suite struct ClientLogoTests {
    private static func png(width: UInt32, height: UInt32) -> [UInt8] {
        let start: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
        let sides = [width, height].flatMap { side in (0..<4).map { UInt8(side >> (24 - 8 * $0) & 255) } }
        return start + sides + Array(repeating: 0, count: 40)
    }

    @Test func `a PNG of a usual size is accepted`() {
        #expect(
            ClientLogo(Self.png(width: 512, height: 1024))?.dataURL.hasPrefix("data:image/png;base64,iVBOR")
                == true)
    }

    @Test(arguments: [(0, 1), (1025, 1), (1, 1025), (.max, .max)] as [(UInt32, UInt32)])
    func `a PNG that would fill the memory of a browser is refused`(width: UInt32, height: UInt32) {
        #expect(ClientLogo(Self.png(width: width, height: height)) == nil)
    }

    @Test(arguments: [
        "<svg/>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n",
        """
        <svg viewBox="0 0 24 24" xmlns="http://www.w3.org/2000/svg"><title>Shop</title><defs>
        <linearGradient id="a"><stop offset="0" stop-color="#f00"/></linearGradient></defs>
        <g fill="url(#a)"><path d="M0 0h24v24H0z"/><circle cx="1" cy="1" r="1"/></g></svg>
        """,
    ])
    func `an SVG of shapes and gradients is accepted`(text: String) {
        #expect(ClientLogo(Array(text.utf8))?.dataURL.hasPrefix("data:image/svg+xml;base64,") == true)
    }

    @Test(arguments: [
        "", "picture", "<html/>", "<svg", "<svg/>x", "<svg><script>alert(1)</script></svg>",
        "<svg onload=\"alert(1)\"/>", "<svg ONLOAD = 'alert(1)'/>", "<svg><path d=''\nonclick=x /></svg>",
        "<svg/onload=x>", "<svg><a href='x'/></svg>", "<svg><g xlink:href='x'/></svg>",
        "<svg><image src='https://evil.example/x'/></svg>", "<svg><use href='#a'/></svg>",
        "<svg><style>*{}</style></svg>", "<svg><g style='a:b'/></svg>", "<svg><foreignObject/></svg>",
        "<svg><g fill='url(https://evil.example/x)'/></svg>", "<svg><g fill='URL(x)'/></svg>",
        "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "<svg><!-- a --></svg>", "<svg><?php x?></svg>",
        "<svg><g fill='&#117;rl(x)'/></svg>", "<svg><g a='>'/></svg><script>", "<svg><text>a</text></svg>",
        "<?xml version='1.0'?><?xml-stylesheet href='x'?><svg/>", "<SVG/>", "<svg><svg:script/></svg>",
        "<svg><path:a/></svg>", "<svg><animate/></svg>",
    ])
    func `anything that could run, load or hide something is refused`(text: String) {
        #expect(ClientLogo(Array(text.utf8)) == nil)
    }

    @Test func `bytes that are no UTF-8, and more than 32 KiB, are refused`() {
        #expect(ClientLogo(Array("<svg>".utf8) + [0xFF] + Array("</svg>".utf8)) == nil)
        let long = "<svg>" + String(repeating: " ", count: ClientLogo.mostBytes) + "</svg>"
        #expect(ClientLogo(Array(long.utf8)) == nil)
    }
}
