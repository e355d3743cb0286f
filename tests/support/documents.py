"""Small real documents, made by libraries other than those that read them where there are such."""

import io
import shutil
import subprocess
import zipfile

import pytest

SOFFICE = shutil.which("soffice")

FLAT_SHEET = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"
 xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles>
<number:date-style style:name="N1"><number:month number:textual="true"/><number:text>-</number:text>
<number:year/></number:date-style>
<number:percentage-style style:name="N2"><number:number number:decimal-places="1"/>
<number:text>%</number:text></number:percentage-style>
<style:style style:name="d" style:family="table-cell" style:data-style-name="N1"/>
<style:style style:name="p" style:family="table-cell" style:data-style-name="N2"/>
</office:automatic-styles>
<office:body><office:spreadsheet>
<table:table table:name="Cash flow">
<table:table-row><table:table-cell office:value-type="float" office:value="10"/>
<table:table-cell office:value-type="string"><text:p>00123</text:p></table:table-cell>
<table:table-cell table:style-name="d" office:value-type="date" office:date-value="2009-12-31"/>
</table:table-row>
<table:table-row><table:table-cell office:value-type="float" office:value="15"/>
<table:table-cell table:number-columns-spanned="2" office:value-type="string">
<text:p>both</text:p></table:table-cell>
</table:table-row>
<table:table-row><table:table-cell table:formula="of:=SUM([.A1:.A2])"/>
<table:table-cell table:style-name="p" office:value-type="percentage" office:value="0.1414"/>
</table:table-row>
</table:table></office:spreadsheet></office:body></office:document>
"""

PAGE = """<html><head><meta charset="utf-8"></head><body><h1>Annual report</h1>
<p>BEFORE-1 Größe “quoted”</p>
<table border="1"><tr><th>Year</th><th>Cash</th></tr><tr><td>2009</td><td>206588</td></tr>
<tr><td colspan="2">both<table><tr><td>N1</td><td>N2</td></tr></table></td></tr></table>
<p>AFTER-1 שלום עולם</p><p>مرحبا بالعالم</p><ul><li>point</li></ul></body></html>
"""


def by_libreoffice(folder, name, text, kind):
    """A document as LibreOffice writes it from a text format; skips visibly where it is not installed."""
    source = folder / name
    source.write_text(text, encoding="utf-8")
    return convert(source, kind)


def convert(source, kind):
    """The same document in another format, beside it."""
    if SOFFICE is None:
        pytest.skip("LibreOffice is not installed (apt-get install libreoffice-calc libreoffice-writer)")
    home = source.parent / "profile"  # one of its own, so that tests may run side by side
    command = [SOFFICE, f"-env:UserInstallation={home.as_uri()}", "--headless", "--convert-to", kind]
    subprocess.run([*command, "--outdir", source.parent, source], check=True, capture_output=True, timeout=60)
    return source.with_suffix("." + kind.partition(":")[0])


def pdf(path, pages, **settings):
    """A PDF by reportlab: each page a list of (x, y, text), or a function that draws."""
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(path), **settings)
    for page in pages:
        if callable(page):
            page(drawing)
        else:
            for x, y, text in page:
                drawing.drawString(x, y, text)
        drawing.showPage()
    drawing.save()
    return path


def lines(*texts, x=50, top=780):
    """Lines of text for a page of `pdf`."""
    return [(x, top - 16 * number, text) for number, text in enumerate(texts)]


def picture_of(text, size=(900, 120), kind="PNG"):
    """The bytes of an image of some text."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((20, 30), text, fill="black", font=ImageFont.load_default(48))
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


def scanned_page(text):
    """A page that is a picture of some text."""
    from reportlab.lib.utils import ImageReader

    image = ImageReader(io.BytesIO(picture_of(text)))
    return lambda drawing: drawing.drawImage(image, 50, 600, width=450, height=60)


def workbook(path, fill, **options):
    """A workbook by XlsxWriter, filled by a function of it."""
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path), options)
    fill(book)
    book.close()
    return path


def word(path, fill):
    """A Word document by python-docx, filled by a function of it."""
    import docx

    document = docx.Document()
    fill(document)
    document.save(path)
    return path


def slides(path, *fills):
    """A presentation by python-pptx: one blank slide for each function of a slide."""
    import pptx

    deck = pptx.Presentation()
    for fill in fills:
        fill(deck.slides.add_slide(deck.slide_layouts[6]))
    deck.save(path)
    return path


def box(slide, text):
    """A text box on a slide or in a group."""
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = text


def zip_bomb(path, size=96 * 1024**2):
    """An archive that looks like a workbook and unpacks to `size` zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as entry:
            for _ in range(size // (16 * 1024**2)):
                entry.write(bytes(16 * 1024**2))
    return path


def pdf_bomb(path, layers=3, size=128 * 1024**2):
    """A page whose content, packed several times over, unpacks to `size` blanks."""
    import zlib

    packer = zlib.compressobj(1)
    blanks = b" " * 1024**2
    content = b"".join(packer.compress(blanks) for _ in range(size // 1024**2)) + packer.flush()
    for _ in range(layers - 1):
        content = zlib.compress(content, 9)
    filters = b"[" + b"/FlateDecode " * layers + b"]"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<>>>>",
        b"<</Length %d/Filter%s>>stream\n%s\nendstream" % (len(content), filters, content),
    ]
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    path.write_bytes(body + end % (table, len(body)))
    return path
