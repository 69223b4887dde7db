from app.page import serve_page

serve_page()
